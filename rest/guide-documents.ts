import { print } from 'graphql';
import { routeName, routes } from './routes.ts';

/**
 * Matches the section of an endpoint in the migration guide. The section consists of the text before the GraphQL
 * document, the document, and the end of the code block.
 */
const sectionOf = (name: string) =>
  new RegExp(
    `(^## \`${name.replace(/[{}]/g, '\\$&')}\`\n(?:(?!^## )[^])*?^\`\`\`graphql\n)[^]*?(^\`\`\`$)`,
    'm',
  );

/**
 * Writes the current GraphQL documents of all endpoints into the guide for clients that move from REST to the graph
 * (docs/moving-to-graphql/).
 *
 * @param pages the texts of the pages by their paths
 * @returns the texts with the current documents
 * @throws {Error} when no page has a section for an endpoint
 */
export function withDocuments(pages: Readonly<Record<string, string>>): Record<string, string> {
  const texts = { ...pages };
  for (const route of routes) {
    const section = sectionOf(routeName(route));
    const path = Object.keys(texts).find((candidate) => section.test(texts[candidate]!));
    if (path === undefined) throw new Error(`The guide has no document under ${routeName(route)}`);
    texts[path] = texts[path]!.replace(
      section,
      (_, before: string, end: string) => `${before}${print(route.document)}\n${end}`,
    );
  }
  return texts;
}
