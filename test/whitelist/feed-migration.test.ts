import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { AuthenticatedKey } from '../../src/auth/key.ts';
import { applyMigrations } from '../../src/database/migrations.ts';
import { openDatabase } from '../../src/database/open.ts';
import { newId } from '../../src/ids.ts';
import { createWhitelistFeed } from '../../src/whitelist/feed/feed.ts';
import { createFeedCursors } from '../../src/whitelist/feed/cursor.ts';
import { feedLife } from '../../src/whitelist/feed/position.ts';
import { createWhitelistReads } from '../../src/whitelist/reads.ts';
import { migrationsFolder } from '../../src/migrated-database.ts';
import { createScratchDatabase, migrateUpTo } from '../support/scratch-database.ts';

const log = pino({ level: 'silent' });
const entries = 1000;
const idOf = (n: number) => `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`;

test('after the database migration of the whitelist feed, clients read the whole whitelist again, and no whitelist entry is missing', async () => {
  const scratch = await createScratchDatabase({ migrated: false });
  const database = await openDatabase({ ...scratch, log });
  onTestFinished(async () => {
    await database.close();
    await scratch.drop();
  });
  await migrateUpTo(database, '20261122022617_whitelist_changes');
  const { sql } = database;
  const run = <Row>(text: string, values: string[] = []) => sql.query<Row>({ name: '', text }, values);
  const [companyId, locationId] = [newId(), newId()];
  await run(`INSERT INTO "Company" (id, name, slug, address) VALUES ($1, 'A', 'a', 'A')`, [companyId]);
  await run(`INSERT INTO "Location" (id, "companyId", name, slug) VALUES ($1, $2, 'B', 'b')`, [
    locationId,
    companyId,
  ]);
  await run(
    `INSERT INTO "WhitelistEntry" (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber")
       SELECT '01900000-0000-7000-8000-' || lpad(n::text, 12, '0'), $1, 'r', 'DXB', 'A', n::text FROM generate_series(0, ${entries}) AS n`,
    [locationId],
  );
  await run(`UPDATE "WhitelistEntry" SET note = 'changed' WHERE id = $1`, [idOf(1)]);
  await run(`DELETE FROM "WhitelistEntry" WHERE id = $1`, [idOf(0)]);
  const [position] = await run<{ life: string; snapshot: string }>(
    `SELECT ${feedLife.replace('WhitelistChange', 'WhitelistEntry')} AS life, pg_current_snapshot()::text AS snapshot`,
  );
  const feedCursors = createFeedCursors('pepper');
  const takenAt = new Date().toISOString();
  const next = { ...position!, newestRecordId: null, takenAt };
  const after = feedCursors.encode({ locationId, next, round: null });
  const storage = () => run(`SELECT pg_relation_filenode('"WhitelistEntry"') AS file`);
  const before = await storage();

  await applyMigrations(database, log, migrationsFolder);

  // When PostgreSQL rewrites a table, it stores the table in a new file. The file of the table is still the same, so
  // the migration has not rewritten the table.
  expect(await storage()).toEqual(before);
  const feed = createWhitelistFeed({
    sql,
    whitelist: createWhitelistReads({ sql, kind: database.kind, feedCursors }),
    feedCursors,
    changesKeptDays: 30,
  });
  const key = { unrestricted: true } as AuthenticatedKey;
  const list = await feed.changes(key, locationId, after, 2 * entries);
  expect(list).toMatchObject({ reset: true, removals: [], hasMore: false });
  expect(list.upserts).toHaveLength(entries);

  await run(`UPDATE "WhitelistEntry" SET note = 'again' WHERE id = $1`, [idOf(2)]);
  await run(`DELETE FROM "WhitelistEntry" WHERE id = $1`, [idOf(3)]);
  expect(await feed.changes(key, locationId, list.cursor, 10)).toMatchObject({
    reset: false,
    upserts: [{ id: idOf(2), note: 'again' }],
    removals: [{ id: idOf(3), plateNumber: '3' }],
  });
});
