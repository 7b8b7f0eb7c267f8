/**
 * The numbers of the advisory locks of this project, all in one place so that no two are the same. Any number of our
 * own does, except for Prisma's. A lock belongs to one database, and ends with its transaction.
 */
export const advisoryLocks = {
  /** One gateway migrates, the others wait. Earlier versions take it too. */
  migration: 7_205_759_403,
  /** The lock of `prisma migrate`, which gives up waiting for it after 10 s. */
  prismaMigration: 72_707_369,
  /**
   * One process drops days of usage, and the others need not. Also the seed for a hash of each table whose expired
   * records one process removes.
   */
  retention: 7_205_759_404,
  /** One process makes the partitions of the days ahead, and those that start meanwhile wait for it. */
  usagePartitions: 7_205_759_406,
  /** One test process makes the template of the scratch databases. */
  testTemplate: 7_205_759_405,
} as const;
