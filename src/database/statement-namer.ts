/** The maximum number of prepared Prisma statements. Lists of many lengths must not fill the memory of PostgreSQL. */
const maxNamedStatements = 500;

/** Names the statements of Prisma, so that each connection prepares a statement once. '' means an unnamed statement. */
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
