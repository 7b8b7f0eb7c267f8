import { print } from 'graphql';
import { routeName, routes } from './routes.ts';

/** The block of a document under the heading of an endpoint: what stands before it, the document, and its end. */
const sectionOf = (name: string) =>
  new RegExp(
    `(^### \`${name.replace(/[{}]/g, '\\$&')}\`\n(?:(?!^### )[^])*?^\`\`\`graphql\n)[^]*?(^\`\`\`$)`,
    'm',
  );

/**
 * Puts the documents of all endpoints into the guide for clients that move to the graph (docs/moving-to-graphql.md).
 *
 * @throws {Error} when the guide has no section for an endpoint
 */
export function withDocuments(guide: string): string {
  return routes.reduce((text, route) => {
    const section = sectionOf(routeName(route));
    if (!section.test(text)) throw new Error(`The guide has no document under ${routeName(route)}`);
    return text.replace(
      section,
      (_, before: string, end: string) => `${before}${print(route.document)}\n${end}`,
    );
  }, guide);
}
