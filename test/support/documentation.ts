import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root folder of the project. */
export const projectFolder = fileURLToPath(new URL('../..', import.meta.url));

/** A document of the project in Markdown. */
export interface Page {
  /** The path of the document relative to the root folder of the project. */
  path: string;
  text: string;
}

/**
 * A code block of a Markdown document. The first line of the code block consists of three backticks, the name of a
 * language, and words such as `run`.
 */
export interface FencedBlock {
  language: string;
  /**
   * The words after the language in the first line of a Markdown code block. A code block with commands is labelled
   * `run` if a test runs the commands, and `manual` if no test runs them.
   */
  words: string[];
  text: string;
}

/** Returns every document of the project, inside and outside of docs/. */
export function readPages(): Page[] {
  const inDocs = readdirSync(join(projectFolder, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name));
  const inBench = ['.', 'worst-requests', 'request-costs'].map((folder) =>
    join('bench', folder, 'README.md'),
  );
  return ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...inBench, ...inDocs.sort()].map((path) => ({
    path,
    text: readFileSync(join(projectFolder, path), 'utf8'),
  }));
}

/** Returns the code blocks of a Markdown document, in the order in which they occur. */
export function fencedBlocks({ text }: Page): FencedBlock[] {
  return [...text.matchAll(/^```(\w+)([^\n]*)\n([\s\S]*?)^```$/gm)].map(([, language, words, lines]) => ({
    language: language!,
    words: words!.split(' ').filter(Boolean),
    text: lines!,
  }));
}

/** Returns the files of the project to which a document links, as paths from the root folder. */
export function linkedFiles({ path, text }: Page): string[] {
  return [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
    .map(([, target]) => target!)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => relative(projectFolder, join(projectFolder, path, '..', target)));
}
