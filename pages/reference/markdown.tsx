import { raw } from 'hono/html';
import markdownIt from 'markdown-it';
import { Code } from './code.tsx';
import { languageOf } from './highlight.ts';

/** Converts descriptions from Markdown to HTML. HTML in a description is shown as text. */
const markdown = markdownIt({ html: false, linkify: false });
markdown.renderer.rules.fence = (tokens, index) => {
  const { content, info } = tokens[index]!;
  const [language = ''] = info.trim().split(' ');
  return (
    <Code text={content} label={`Example: ${info || 'text'}`} language={languageOf(language)} />
  ).toString();
};

/** Shows Markdown with paragraphs, lists and headings. */
export const Prose = ({ text }: { text: string | null | undefined }) => (
  <div class="prose">{raw(markdown.render(text ?? ''))}</div>
);

/** Shows one or two sentences of Markdown without a paragraph of their own. */
export const Inline = ({ text }: { text: string | null | undefined }) => (
  <>{raw(markdown.renderInline(text ?? ''))}</>
);
