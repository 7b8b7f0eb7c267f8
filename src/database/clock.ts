import type { PrismaClient } from '../../prisma/generated/client/client.ts';

/**
 * Returns the time of the database clock. Within a transaction, `databaseNow` returns the time at which the transaction
 * began. All times that the gateway itself stores, such as `createdAt`, come from the database clock. The gateway
 * compares stored times with each other, but the clocks of different gateway processes can differ.
 */
export async function databaseNow(client: Pick<PrismaClient, '$queryRaw'>): Promise<Date> {
  const [row] = await client.$queryRaw<{ now: Date }[]>`SELECT now()`;
  if (!row) throw new Error('The database did not return the time');
  return row.now;
}
