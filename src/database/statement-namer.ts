/**
 * The maximum number of Prisma statements that each connection prepares. Without `maxNamedStatements`, prepared
 * statements would occupy much memory in PostgreSQL, because Prisma creates a different SQL statement for each length
 * of a list of values.
 */
const maxNamedStatements = 500;

/**
 * Gives names to Prisma's statements, so that each connection prepares a statement only once. After
 * `maxNamedStatements` statements, new statements get an empty name, so that PostgreSQL does not prepare them.
 */
export function createStatementNamer(): (query: { sql: string }) => string {
  const nameByText = new Map<string, string>();
  return ({ sql }) => {
    let name = nameByText.get(sql);
    if (name === undefined && nameByText.size < maxNamedStatements) {
      name = `prisma_${nameByText.size}`;
      nameByText.set(sql, name);
    }
    return name ?? '';
  };
}
