import type { PrismaClient } from '../../prisma/generated/client/client.ts';

/**
 * The time by the clock of the database, in a transaction the time when it began. Times that are stored and compared
 * with each other come from this one clock: those of the processes may differ.
 */
export async function databaseNow(client: Pick<PrismaClient, '$queryRaw'>): Promise<Date> {
  const [row] = await client.$queryRaw<{ now: Date }[]>`SELECT now()`;
  if (!row) throw new Error('The database did not tell the time');
  return row.now;
}
