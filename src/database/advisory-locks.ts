/**
 * The numbers of PostgreSQL advisory locks in this project. They are all in this file, so that no two are the same. The
 * numbers are arbitrary, except for the number of Prisma. A lock belongs to one database and ends with its transaction.
 */
export const advisoryLocks = {
  /** Held by the gateway process that migrates; the others wait. Earlier versions take the same lock. */
  migration: 7_205_759_403,
  /** Held by `prisma migrate`, which waits for it for at most 10 s. */
  prismaMigration: 72_707_369,
  /**
   * Held by the process that drops expired days of usage records; other processes skip that work. It is also the seed
   * of one lock for each table, held by the process that removes the table's expired records.
   */
  retention: 7_205_759_404,
  /** Held by the process that creates the partitions of the coming days; processes that start meanwhile wait. */
  usagePartitions: 7_205_759_406,
  /** Held by the process that creates or revokes the operator's key; processes that start meanwhile wait. */
  operatorKey: 7_205_759_405,
  /** The seed of one lock for each company, held while its webhooks are counted and a webhook is created. */
  webhooksOfCompany: 0,
  /** Held by the test process that creates the template of the scratch databases. */
  testTemplate: 7_205_759_407,
} as const;
