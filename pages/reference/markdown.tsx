import { raw } from 'hono/html';
import markdownIt from 'markdown-it';

/** Descriptions are Markdown; HTML in them is shown as text. */
const markdown = markdownIt({ html: false, linkify: false });

/** Paragraphs, lists and headings. */
export const Prose = ({ text }: { text: string | null | undefined }) => (
  <div class="prose">{raw(markdown.render(text ?? ''))}</div>
);

/** A sentence or two inside of a line. */
export const Inline = ({ text }: { text: string | null | undefined }) => (
  <>{raw(markdown.renderInline(text ?? ''))}</>
);
