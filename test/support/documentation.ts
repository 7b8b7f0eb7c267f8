import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root folder of the project. */
export const projectFolder = fileURLToPath(new URL('../..', import.meta.url));

/** A page of the documents. */
export interface Page {
  /** The page's path within the project. */
  path: string;
  text: string;
}

/**
 * A fenced block of a page, which has three backticks, a language, words for tools, and the lines until the fence ends.
 */
export interface FencedBlock {
  language: string;
  /** The words after the language: `run` for commands that a test runs, `manual` for other commands. */
  words: string[];
  text: string;
}

/** Returns every page of the documents, with README.md and the other files at the root. */
export function readPages(): Page[] {
  const inDocs = readdirSync(join(projectFolder, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name));
  return ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'bench/README.md', ...inDocs.sort()].map(
    (path) => ({
      path,
      text: readFileSync(join(projectFolder, path), 'utf8'),
    }),
  );
}

/** The fenced blocks of a page in their order. */
export function fencedBlocks({ text }: Page): FencedBlock[] {
  return [...text.matchAll(/^```(\w+)([^\n]*)\n([\s\S]*?)^```$/gm)].map(([, language, words, lines]) => ({
    language: language!,
    words: words!.split(' ').filter(Boolean),
    text: lines!,
  }));
}

/** The links of a page to other files of the project, as paths from the root folder. */
export function linkedFiles({ path, text }: Page): string[] {
  return [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
    .map(([, target]) => target!)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => relative(projectFolder, join(projectFolder, path, '..', target)));
}
