/**
 * The numbers of the advisory locks in PostgreSQL. This file contains all lock numbers, so that each lock has a
 * different number. The lock numbers are arbitrary, except for the number of the lock that Prisma also uses. An
 * advisory lock is valid for one database and is released when its transaction ends.
 */
export const advisoryLocks = {
  /**
   * The number of the advisory lock that a gateway process holds while it applies migrations. Other gateway processes
   * wait for this lock before they apply migrations. Earlier versions of the gateway use the same lock number, so
   * gateway processes of different versions never migrate at the same time.
   */
  migration: 7_205_759_403,
  /**
   * The number of the advisory lock that `prisma migrate` takes. `prisma migrate` waits for the lock for at most 10 s.
   */
  prismaMigration: 72_707_369,
  /**
   * The lock of the process that removes expired usage records. If another process holds the lock for usage records, a
   * process skips the removal of expired usage records. Each other table with expired records has its own retention
   * lock. The number of a retention lock is a hash of the table's name with the seed `retention`. A process holds the
   * retention lock of a table while it removes expired records from this table.
   */
  retention: 7_205_759_404,
  /**
   * The lock of the process that creates the table partitions for the coming days. While one process creates table
   * partitions, starting gateway processes wait.
   */
  usagePartitions: 7_205_759_406,
  /**
   * The lock of the process that creates or revokes the operator's key. While one process creates or revokes the
   * operator's key, starting gateway processes wait.
   */
  operatorKey: 7_205_759_405,
  /**
   * The seed of the locks for webhooks, with one lock for each company. The number of a lock is a hash of the company's
   * id with the seed `webhooksOfCompany`. A transaction holds the lock of a company while it counts the company's
   * webhooks and creates a webhook.
   */
  webhooksOfCompany: 0,
  /** The lock of the test process that creates the template for the databases of the tests. */
  testTemplate: 7_205_759_407,
} as const;
