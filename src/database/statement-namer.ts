/**
 * The maximum number of Prisma statements that are prepared. The limit exists because lists of many lengths would
 * otherwise fill the memory of PostgreSQL.
 */
const maxNamedStatements = 500;

/**
 * Names the statements of Prisma, so that each connection prepares a statement once. An empty name means that the
 * statement is not prepared.
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
