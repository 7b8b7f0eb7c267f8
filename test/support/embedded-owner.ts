// A process that opens the embedded database in DATA_DIR and adds companies until it is killed. It prints `open`,
// then the slug of each company as soon as its insert is acknowledged.
import { pino } from 'pino';
import { applyMigrations } from '../../src/database/migrations.ts';
import { openDatabase } from '../../src/database/open.ts';

const log = pino({ level: 'silent' });
try {
  const database = await openDatabase({ dataDir: process.env.DATA_DIR!, log });
  await applyMigrations(database, log, new URL('../../prisma/migrations/', import.meta.url));
  console.log('open');
  for (let count = 0; ; count += 1) {
    const slug = `${process.pid}-${count}`;
    await database.prisma.company.create({ data: { id: slug, slug, name: 'Kept', address: 'Dubai' } });
    console.log(slug);
  }
} catch (error) {
  console.log((error as Error).message);
  process.exit(1);
}
