import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectFolder, readPages } from '../support/documentation.ts';

/** Non-standard or figurative words, each with the standard term that the documents use instead (docs/glossary.md). */
const replacedWords: [word: RegExp, term: string][] = [
  [/\bstrangers?\b/i, 'unauthenticated client'],
  [/\bclerks?\b/i, 'user'],
  [/\bgood-?bye\b/i, 'deprecated'],
  [/\bfree moments?\b/i, 'yield to the event loop'],
  [/\b(?:some|no|any)body\b|\bwhoever\b/i, 'the noun of the actor'],
  [/\b(?:tells?|told) of\b/i, 'describes'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix'],
  [/\bheal(?:s|ed|ing)?\b/i, 'correct itself'],
  [/\b(?:is|are) away\b/i, 'unreachable'],
  [/\b(?:is|are) left out\b|\bleave out\b/i, 'omitted'],
  [/\b(?:tied to|without ties|in (?:its|their|my) reach)\b|\bkeys? reach(?:es)?\b/i, 'scope'],
  [/\blets? in\b/i, 'admits'],
];

/**
 * Returns the section Unreleased of the changelog. The test skips the sections of earlier releases, because these
 * sections keep their original words.
 */
const unreleased = (text: string) => text.split(/^## /m).find((section) => section.startsWith('Unreleased'))!;

const texts = [
  ...readPages().map(({ path, text }) => ({ path, text: path === 'CHANGELOG.md' ? unreleased(text) : text })),
  ...['schema/schema.graphql', 'rest/openapi.json'].map((path) => ({
    path,
    text: readFileSync(join(projectFolder, path), 'utf8'),
  })),
];

test.each(texts)(
  'the document $path uses the standard terms instead of the non-standard words',
  ({ text }) => {
    const found = text
      .split('\n')
      .flatMap((line) =>
        replacedWords
          .filter(([word]) => word.test(line))
          .map(([word, term]) => `${word.exec(line)![0]} (write: ${term}) in: ${line.trim()}`),
      );
    expect(found).toEqual([]);
  },
);

test.each([
  ['a key that is tied to the company', 'scope'],
  ['when nobody saw it', 'the noun of the actor'],
  ['Redis is away', 'unreachable'],
])(
  'the check of the documents finds the non-standard word in "%s", and suggests the standard term "%s"',
  (sentence, expected) => {
    expect(replacedWords.filter(([word]) => word.test(sentence)).map(([, term]) => term)).toEqual([expected]);
  },
);

test('the first paragraph of every document in docs/ says who should read the document, and what the document explains', () => {
  const pages = readPages().filter(({ path }) => path.startsWith('docs/') && path !== 'docs/README.md');
  const without = pages.filter(({ text }) => {
    const [, introduction = ''] = text.split(/\n\n/);
    return (
      !/^(This (page|guide) is|These pages are) for /.test(introduction) ||
      !/\b(explains|contains)\b/.test(introduction)
    );
  });
  expect(without.map(({ path }) => path)).toEqual([]);
});
