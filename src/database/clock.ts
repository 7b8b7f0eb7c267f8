import type { PrismaClient } from '../../prisma/generated/client/client.ts';

/**
 * Returns the time of the database clock. Within a transaction, `databaseNow` returns the time at which the transaction
 * began. All stored times come from the database clock, because the gateway compares stored times with each other, and
 * the clocks of its processes may differ.
 */
export async function databaseNow(client: Pick<PrismaClient, '$queryRaw'>): Promise<Date> {
  const [row] = await client.$queryRaw<{ now: Date }[]>`SELECT now()`;
  if (!row) throw new Error('The database did not return the time');
  return row.now;
}
