import { raw } from 'hono/html';
import markdownIt from 'markdown-it';
import { linkTo } from '../layout.tsx';
import { Code } from './code.tsx';
import { languageOf } from './highlight.ts';

/**
 * The converter from Markdown to HTML for descriptions. The Markdown converter shows HTML tags in a description as
 * plain text.
 */
const markdown = markdownIt({ html: false, linkify: false });
markdown.renderer.rules.fence = (tokens, index) => {
  const { content, info } = tokens[index]!;
  const [language = ''] = info.trim().split(' ');
  return (
    <Code text={content} label={`Example: ${info || 'text'}`} language={languageOf(language)} />
  ).toString();
};

const { normalizeLink } = markdown;
markdown.normalizeLink = (link) => normalizeLink(link.startsWith('/') ? linkTo(link) : link);

/** Shows a Markdown text that can have paragraphs, lists and headings. */
export const Prose = ({ text }: { text: string | null | undefined }) => (
  <div class="prose">{raw(markdown.render(text ?? ''))}</div>
);

/** Shows a short Markdown text without a surrounding paragraph element. */
export const Inline = ({ text }: { text: string | null | undefined }) => (
  <>{raw(markdown.renderInline(text ?? ''))}</>
);
