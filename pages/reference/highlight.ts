import markdownIt from 'markdown-it';

/** The programming languages for which the code examples have syntax highlighting. */
export type Language = 'json' | 'graphql' | 'sh' | 'ts' | 'python';

const quoted = String.raw`"(?:[^"\\]|\\[^])*"`;
const singleQuoted = String.raw`'(?:[^'\\]|\\[^])*'`;

/**
 * The patterns for syntax highlighting in each language. If several patterns match at the same position in the text,
 * the first pattern in the list is used.
 */
const tokens: Record<Language, readonly (readonly [kind: string, pattern: string])[]> = {
  json: [
    ['name', String.raw`${quoted}(?=\s*:)`],
    ['string', quoted],
    ['number', String.raw`-?\b\d[\d.]*\b|\b(?:true|false|null)\b`],
  ],
  graphql: [
    ['comment', '#.*'],
    ['string', quoted],
    ['keyword', String.raw`^(?:query|mutation|subscription|fragment)\b|\.\.\.|\bon(?= [A-Z])`],
    ['name', String.raw`\$\w+|\w+(?=:)`],
    ['number', String.raw`\b\d+\b`],
  ],
  sh: [
    ['comment', String.raw`(?<=^|\s)#.*`],
    ['string', `${singleQuoted}|${quoted}`],
    ['keyword', String.raw`^\w+(?= )`],
    ['name', String.raw`\$\w+|(?<=\s)--?[A-Za-z][\w-]*`],
  ],
  ts: [
    ['comment', '//.*'],
    ['string', `${singleQuoted}|${quoted}|\`[^\`]*\``],
    [
      'keyword',
      String.raw`\b(?:import|from|const|let|await|async|for|of|new|function|return|if|type|export)\b`,
    ],
    ['number', String.raw`\b\d+\b|\b(?:true|false|null)\b`],
  ],
  python: [
    ['comment', '#.*'],
    ['string', `"""[^]*?"""|${quoted}|${singleQuoted}`],
    ['keyword', String.raw`\b(?:import|from|with|as|for|in|if|def|return|while|not)\b`],
    ['number', String.raw`\b\d+\b|\b(?:True|False|None)\b`],
  ],
};

/** Alternative names of the programming languages, for code blocks in Markdown. */
const otherNames: Record<string, Language> = { bash: 'sh', typescript: 'ts', py: 'python' };

/** Returns the language with a given name, or `undefined` if the language has no syntax highlighting. */
export function languageOf(name: string): Language | undefined {
  return Object.hasOwn(tokens, name) ? (name as Language) : otherNames[name];
}

const patterns = new Map(
  Object.entries(tokens).map(([language, kinds]) => [
    language,
    new RegExp(kinds.map(([kind, pattern]) => `(?<${kind}>${pattern})`).join('|'), 'gm'),
  ]),
);

const { escapeHtml } = markdownIt().utils;

/**
 * Converts source text to HTML with syntax highlighting. Each highlighted part of the text becomes a `span` element.
 * The kind of the highlighted part, such as `string`, is the class of its `span` element. Special HTML characters in
 * the source text are escaped.
 */
export function highlight(text: string, language: Language | undefined): string {
  const pattern = language && patterns.get(language);
  if (!pattern) return escapeHtml(text);
  let html = '';
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    const [kind] = Object.entries(match.groups!).find(([, token]) => token !== undefined)!;
    html += `${escapeHtml(text.slice(end, match.index))}<span class="${kind}">${escapeHtml(match[0])}</span>`;
    end = match.index + match[0].length;
  }
  return html + escapeHtml(text.slice(end));
}
