/** Distinct statements of Prisma that are prepared; lists of changing length must not fill the server's memory. */
const maxNamedStatements = 500;

/** Names the statements of Prisma, so that PostgreSQL plans each once per connection. '' leaves one unnamed. */
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
