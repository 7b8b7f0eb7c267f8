/**
 * The maximum number of statements that each connection prepares under the names of `createStatementNamer`. Without
 * `maxNamedStatements`, prepared statements would occupy much memory in PostgreSQL, because Prisma creates a different
 * SQL statement for each length of a list of values.
 */
const maxNamedStatements = 500;

/**
 * Gives names to SQL statements, so that each connection prepares a statement only once. Prisma's statements have no
 * names of their own. On the embedded database, all statements get their names here. After `maxNamedStatements`
 * statements, new statements get an empty name, so that PostgreSQL does not prepare them.
 */
export function createStatementNamer(): (query: { sql: string }) => string {
  const nameByText = new Map<string, string>();
  return ({ sql }) => {
    let name = nameByText.get(sql);
    if (name === undefined && nameByText.size < maxNamedStatements) {
      name = `statement_${nameByText.size}`;
      nameByText.set(sql, name);
    }
    return name ?? '';
  };
}
