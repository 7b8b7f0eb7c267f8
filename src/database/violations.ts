/** SQLSTATE of a unique violation: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const UNIQUE_VIOLATION = '23505';

/**
 * Tells whether a write failed because a unique constraint holds the same value already.
 *
 * Knows an error of Prisma (P2002, or a raw query's P2010), of a driver adapter, of pg and of PGlite.
 * `constraintName` is the `map` of the constraint in schema.prisma; without it any unique constraint counts.
 */
export function isUniqueViolation(error: unknown, constraintName?: string): boolean {
  const cause = property(property(property(error, 'meta'), 'driverAdapterError'), 'cause');
  return [cause, property(error, 'cause'), error].some(
    (candidate) =>
      (property(candidate, 'code') === UNIQUE_VIOLATION ||
        property(candidate, 'kind') === 'UniqueConstraintViolation') &&
      (constraintName === undefined || names(candidate, constraintName)),
  );
}

/**
 * pg and PGlite give the name as `constraint`, the adapter of pg as `constraint.index`. The adapter of PGlite
 * gives `constraint.fields`, columns without a name: there only the message of PostgreSQL has it, in quotes.
 */
function names(violation: unknown, constraintName: string): boolean {
  const constraint = property(violation, 'constraint');
  const name = typeof constraint === 'string' ? constraint : property(constraint, 'index');
  if (typeof name === 'string') return name === constraintName;
  return String(property(violation, 'originalMessage')).includes(`"${constraintName}"`);
}

/** A property of something that may have none. */
export function property(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
