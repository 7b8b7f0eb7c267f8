import { print } from 'graphql';
import { routeName, routes } from './routes.ts';

/**
 * Returns a regular expression for the section of one endpoint in the migration guide. The regular expression matches
 * the text from the section's heading to the end of the code block that contains the GraphQL document.
 */
const sectionOf = (name: string) =>
  new RegExp(
    `(^## \`${name.replace(/[{}]/g, '\\$&')}\`\n(?:(?!^## )[^])*?^\`\`\`graphql\n)[^]*?(^\`\`\`$)`,
    'm',
  );

/**
 * Updates the GraphQL documents of all endpoints in the migration guide from REST to GraphQL (docs/moving-to-graphql/).
 *
 * @param pages maps the path of each page of the guide to the text of the page
 * @returns the updated text of each page, by the path of the page
 * @throws {Error} when the guide has no section for one of the endpoints
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
