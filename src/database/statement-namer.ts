/**
 * The maximum number of SQL statements that get a name from `createStatementNamer`. A database connection prepares an
 * SQL statement only if the statement has a name. Prisma creates a different SQL statement for each length of a list of
 * values. Without the limit `maxNamedStatements`, prepared statements would therefore occupy much memory in PostgreSQL.
 */
const maxNamedStatements = 500;

/**
 * Gives names to SQL statements, so that each connection prepares a statement only once. On a PostgreSQL server, this
 * function gives names only to the SQL statements of Prisma, because Prisma does not name its SQL statements itself. On
 * the embedded database, this function gives a name to every SQL statement. The function names at most
 * `maxNamedStatements` SQL statements. All further SQL statements get an empty name, so the connections do not keep
 * these statements as prepared statements.
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
