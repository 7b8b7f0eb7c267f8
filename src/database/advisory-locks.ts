/**
 * The numbers of the advisory locks in PostgreSQL. They are all in this file, so that no two locks have the same
 * number. The numbers are arbitrary, except for the number of Prisma's lock. A lock is valid for one database and ends
 * with its transaction.
 */
export const advisoryLocks = {
  /**
   * The lock of the gateway process that applies migrations. Other processes wait for it. Earlier versions of the
   * gateway use the same lock.
   */
  migration: 7_205_759_403,
  /** The lock of `prisma migrate`. The command waits for the lock for at most 10 s. */
  prismaMigration: 72_707_369,
  /**
   * The lock of the process that drops expired days of usage records. Other processes skip this work. The number is
   * also used to compute a lock for each table, which a process holds while it removes expired records of the table.
   */
  retention: 7_205_759_404,
  /**
   * The lock of the process that creates the table partitions for the coming days. Other starting processes wait for
   * it.
   */
  usagePartitions: 7_205_759_406,
  /** The lock of the process that creates or revokes the operator's key. Other starting processes wait for it. */
  operatorKey: 7_205_759_405,
  /**
   * The number from which the lock of a company is computed. A transaction holds the lock while it counts the company's
   * webhooks and creates a webhook.
   */
  webhooksOfCompany: 0,
  /** The lock of the test process that creates the template for the databases of the tests. */
  testTemplate: 7_205_759_407,
} as const;
