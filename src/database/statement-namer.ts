/**
 * The maximum number of Prisma statements that each connection prepares. Prisma creates a different statement for each
 * length of a list. Without a maximum, prepared statements would occupy much memory of PostgreSQL.
 */
const maxNamedStatements = 500;

/**
 * Gives names to Prisma's statements, so that each connection prepares a statement only once. A statement whose name is
 * empty is not prepared.
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
