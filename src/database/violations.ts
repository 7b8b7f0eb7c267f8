/** The SQLSTATE of a unique violation: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const UNIQUE_VIOLATION = '23505';

/**
 * Whether a write failed because it violated a unique constraint.
 * The function recognises errors of Prisma (P2002, or P2010 of a raw query), of a driver adapter, of pg and of PGlite.
 *
 * @param constraintName the `map` of the constraint in schema.prisma; any unique constraint when omitted
 */
export function isUniqueViolation(error: unknown, constraintName?: string): boolean {
  return causesOf(error).some(
    (candidate) =>
      (property(candidate, 'code') === UNIQUE_VIOLATION ||
        property(candidate, 'kind') === 'UniqueConstraintViolation') &&
      (constraintName === undefined || names(candidate, constraintName)),
  );
}

/**
 * The classes of SQLSTATE codes for invalid values: data exceptions, integrity constraint violations and exceeded
 * program limits.
 */
const REFUSED_VALUE_CLASS = /^(22|23|54)...$/;

/**
 * Whether PostgreSQL rejected a statement because of its values. The rejected statement changed nothing, and may
 * succeed with other values. The function recognises errors of the same libraries as `isUniqueViolation`.
 */
export function isRefusedValue(error: unknown): boolean {
  // PGlite formats dates in JavaScript. For an invalid date, JavaScript throws a RangeError.
  if (error instanceof RangeError) return true;
  return causesOf(error)
    .flatMap((candidate) => [property(candidate, 'originalCode'), property(candidate, 'code')])
    .some((code) => REFUSED_VALUE_CLASS.test(String(code)));
}

/**
 * Returns all objects in which an error of Prisma, a driver adapter, pg or PGlite can contain the error of PostgreSQL.
 */
const causesOf = (error: unknown): unknown[] => [
  property(property(property(error, 'meta'), 'driverAdapterError'), 'cause'),
  property(error, 'cause'),
  error,
];

/**
 * Whether an error names a given constraint. pg and PGlite put the name into `constraint`, and the adapter of pg puts
 * it into `constraint.index`. The adapter of PGlite has only the columns, in `constraint.fields`, so the function
 * searches for the quoted name in the message of PostgreSQL.
 */
function names(violation: unknown, constraintName: string): boolean {
  const constraint = property(violation, 'constraint');
  const name = typeof constraint === 'string' ? constraint : property(constraint, 'index');
  if (typeof name === 'string') return name === constraintName;
  return String(property(violation, 'originalMessage')).includes(`"${constraintName}"`);
}

/** Returns a property of a value. The result is undefined when the value is not an object. */
export function property(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
