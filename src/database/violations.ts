/** The SQLSTATE of a unique violation: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const UNIQUE_VIOLATION = '23505';

/**
 * Whether a write failed because it violated a unique constraint. `isUniqueViolation` recognises errors of Prisma
 * (P2002, or P2010 of a raw query), of a Prisma driver adapter, of the package pg and of PGlite.
 *
 * @param constraintName the name of the constraint in the database (`map` in schema.prisma). If `constraintName` is
 *   omitted, the function returns true for a violation of any unique constraint
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
 * Matches the SQLSTATE codes for invalid values: data exceptions (22), violated integrity constraints (23) and exceeded
 * program limits (54).
 */
const REFUSED_VALUE_CLASS = /^(22|23|54)...$/;

/**
 * Whether PostgreSQL rejected an SQL statement because of one of its values. The SQL statement that PostgreSQL rejected
 * has changed no data, and may succeed with other values. `isRefusedValue` recognizes errors of pg, PGlite and Prisma,
 * as `isUniqueViolation` does.
 */
export function isRefusedValue(error: unknown): boolean {
  // For an invalid Date, PGlite throws a RangeError of JavaScript, because PGlite itself formats each Date.
  return error instanceof RangeError || hasCode(error, REFUSED_VALUE_CLASS);
}

/** The SQLSTATE codes of a statement that could not get a lock in time (55P03), or was part of a deadlock (40P01). */
const LOCK_FAILURE = /^(55P03|40P01)$/;

/**
 * Whether PostgreSQL ended a statement because the statement could not get a lock in time, or was part of a deadlock.
 * If PostgreSQL ended a statement because of a lock, the statement has changed no data.
 */
export const isLockFailure = (error: unknown): boolean => hasCode(error, LOCK_FAILURE);

/** The SQLSTATE of a statement that a read-only database has rejected because the statement changes or locks rows. */
const READ_ONLY = /^25006$/;

/**
 * Whether a database rejected an SQL statement because the database is read-only, such as a standby during a failover.
 */
export const isReadOnlyFailure = (error: unknown): boolean => hasCode(error, READ_ONLY);

const hasCode = (error: unknown, codes: RegExp): boolean =>
  causesOf(error)
    .flatMap((candidate) => [property(candidate, 'originalCode'), property(candidate, 'code')])
    .some((code) => codes.test(String(code)));

/**
 * Returns the given error and all error objects inside it. The given error comes from Prisma, a driver adapter, pg or
 * PGlite. The error of PostgreSQL is either the given error or an error object inside the given error.
 */
const causesOf = (error: unknown): unknown[] => [
  property(property(property(error, 'meta'), 'driverAdapterError'), 'cause'),
  property(error, 'cause'),
  error,
];

/**
 * Whether an error contains the name of a given constraint. In an error of pg or PGlite, the field `constraint`
 * contains the name of the constraint. In an error of Prisma's adapter for pg, the field `constraint.index` contains
 * the name of the constraint. An error of Prisma's adapter for PGlite contains the names of the columns
 * (`constraint.fields`), but not the name of the constraint. For an error of Prisma's adapter for PGlite, the function
 * therefore searches the error message of PostgreSQL for the constraint name between quotation marks.
 */
function names(violation: unknown, constraintName: string): boolean {
  const constraint = property(violation, 'constraint');
  const name = typeof constraint === 'string' ? constraint : property(constraint, 'index');
  if (typeof name === 'string') return name === constraintName;
  return String(property(violation, 'originalMessage')).includes(`"${constraintName}"`);
}

/** Returns the property `key` of a value. Returns `undefined` for a value that is not an object. */
export function property(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
