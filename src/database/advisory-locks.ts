/**
 * The numbers of the advisory locks in PostgreSQL. All these numbers are in one file, because each advisory lock needs
 * a different number. The numbers of the advisory locks are arbitrary, except for `prismaMigration`, which Prisma
 * defines. An advisory lock excludes only the processes that use the same database. PostgreSQL releases each advisory
 * lock of the gateway when the transaction that took the lock ends.
 */
export const advisoryLocks = {
  /**
   * The number of the advisory lock that a gateway process holds while it applies migrations. Other gateway processes
   * wait until the advisory lock is free before they apply migrations. Earlier versions of the gateway use the same
   * lock number, so gateway processes of different versions never migrate at the same time.
   */
  migration: 7_205_759_403,
  /**
   * The number of the advisory lock that `prisma migrate` takes. The command `prisma migrate` fails if another process
   * holds the lock `prismaMigration` for longer than 10 s.
   */
  prismaMigration: 72_707_369,
  /**
   * The number of the advisory lock that a process holds while it drops expired partitions of usage records. While one
   * process holds the lock, no other process drops partitions of usage records. Each table from which the gateway
   * removes single expired rows (not whole partitions) has a separate advisory lock. The gateway also removes expired
   * rows from the table `UsageRecord`, because the default partition of this table can contain expired rows. The lock
   * number of a table is a hash of the table's name, with `retention` as the seed of the hash function. A process holds
   * the lock of a table while it removes expired rows from this table.
   */
  retention: 7_205_759_404,
  /**
   * The number of the advisory lock that a process holds while it creates the table partitions for the coming days.
   * Other processes that create table partitions wait until the lock is free.
   */
  usagePartitions: 7_205_759_406,
  /**
   * The number of the advisory lock that a process holds while it creates or revokes an operator's key. Other processes
   * that create or revoke an operator's key wait until the lock is free.
   */
  operatorKey: 7_205_759_405,
  /**
   * The seed of the hash function that computes the numbers of the webhook locks. Each company has one webhook lock.
   * The number of a company's webhook lock is a hash of the text `webhooks of <company id>`, with `webhooksOfCompany`
   * as the seed of the hash function. A transaction holds the webhook lock of a company while it counts the company's
   * webhooks and creates a webhook.
   */
  webhooksOfCompany: 0,
  /** The number of the advisory lock that a test process holds while it creates the template for the test databases. */
  testTemplate: 7_205_759_407,
} as const;
