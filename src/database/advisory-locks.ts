/**
 * The numbers of the PostgreSQL advisory locks. All numbers are in this file, so that no two locks have the same
 * number. The numbers are arbitrary, except for the number that Prisma uses. A lock belongs to one database and ends
 * with its transaction.
 */
export const advisoryLocks = {
  /**
   * The gateway process that migrates holds this lock; other processes wait. Earlier versions of the gateway use the
   * same lock.
   */
  migration: 7_205_759_403,
  /** `prisma migrate` holds this lock. The command waits at most 10 s for the lock. */
  prismaMigration: 72_707_369,
  /**
   * The process that drops expired days of usage records holds this lock; other processes skip the work. The number is
   * also the seed of one lock for each table, which the process holds while it removes expired records of the table.
   */
  retention: 7_205_759_404,
  /** The process that creates the partitions of the coming days holds this lock; other starting processes wait. */
  usagePartitions: 7_205_759_406,
  /** The process that creates or revokes the operator's key holds this lock; other starting processes wait. */
  operatorKey: 7_205_759_405,
  /**
   * The seed of one lock for each company. A process holds this lock while it counts the company's webhooks and creates
   * a webhook.
   */
  webhooksOfCompany: 0,
  /** The test process that creates the template of the scratch databases holds this lock. */
  testTemplate: 7_205_759_407,
} as const;
