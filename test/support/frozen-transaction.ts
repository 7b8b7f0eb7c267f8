// A test starts the program in this file as a separate process. The process locks the row of a location in a
// transaction, prints `holding`, and never ends the transaction.
import { pino } from 'pino';
import { openDatabase } from '../../src/database/open.ts';

const { DATABASE_URL: databaseUrl, DATABASE_PREPARE: prepare, LOCATION_ID: locationId } = process.env;
const database = await openDatabase({
  databaseUrl,
  dataDir: 'memory://',
  prepareStatements: prepare !== 'false',
  log: pino({ level: 'silent' }),
});
await database.prisma.$transaction(async (transaction) => {
  await transaction.$queryRaw`SELECT id FROM "Location" WHERE id = ${locationId} FOR NO KEY UPDATE`;
  console.log('holding');
  await new Promise<never>(() => setInterval(() => undefined, 1_000));
});
