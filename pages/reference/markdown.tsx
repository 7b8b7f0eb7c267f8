import { raw } from 'hono/html';
import markdownIt from 'markdown-it';
import { Code } from './code.tsx';
import { languageOf } from './highlight.ts';

/** Descriptions are Markdown; HTML in them is shown as text. */
const markdown = markdownIt({ html: false, linkify: false });
markdown.renderer.rules.fence = (tokens, index) => {
  const { content, info } = tokens[index]!;
  const [language = ''] = info.trim().split(' ');
  return (
    <Code text={content} label={`Example: ${info || 'text'}`} language={languageOf(language)} />
  ).toString();
};

/** Paragraphs, lists and headings. */
export const Prose = ({ text }: { text: string | null | undefined }) => (
  <div class="prose">{raw(markdown.render(text ?? ''))}</div>
);

/** Inline Markdown of a sentence or two. */
export const Inline = ({ text }: { text: string | null | undefined }) => (
  <>{raw(markdown.renderInline(text ?? ''))}</>
);
