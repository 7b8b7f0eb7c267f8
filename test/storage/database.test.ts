import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isUniqueViolation } from '../../src/database/violations.ts';
import { openDatabase } from '../../src/database/open.ts';
import type { Database } from '../../src/database/types.ts';
import { openScratchDatabase } from '../support/database.ts';
import { createScratchDatabase, testServerUrl } from '../support/scratch-database.ts';
import type { ScratchDatabase } from '../support/scratch-database.ts';

const onServer = testServerUrl !== undefined;
const log = pino({ level: 'silent' });

describe('hand-written SQL statements', () => {
  let scratch: ScratchDatabase;
  let database: Database;

  beforeAll(async () => {
    scratch = await createScratchDatabase();
    database = await openDatabase({ ...scratch, log });
  }, 60_000);

  afterAll(async () => {
    await database.close();
    await scratch.drop();
  });

  it('SQL statements return values of the same JavaScript types from PostgreSQL and from the embedded database', async () => {
    const text = `SELECT '2026-02-03T04:05:06.789+04'::timestamptz AS timestamptz, 7::int2 AS int2, 7::int4 AS int4,
      7::int8 AS int8, 7.25::float8 AS float8, 7.25::numeric AS numeric, true AS bool, 'x' AS text, NULL AS nothing,
      ARRAY['a', NULL, 'b,"c'] AS texts, ARRAY[1, NULL] AS ints, '{}'::text[] AS "none",
      ARRAY['2026-01-01T00:00:00Z'::timestamptz, NULL] AS times, '{"a": [1, null]}'::jsonb AS jsonb,
      'ADMIN'::"Permission" AS "enum", ARRAY['ADMIN'::"Permission"]::text[] AS enums`;
    expect(await database.sql.query({ name: 'shapes', text }, [])).toEqual([
      {
        timestamptz: new Date('2026-02-03T00:05:06.789Z'),
        int2: 7,
        int4: 7,
        int8: '7',
        float8: 7.25,
        numeric: '7.25',
        bool: true,
        text: 'x',
        nothing: null,
        texts: ['a', null, 'b,"c'],
        ints: [1, null],
        none: [],
        times: [new Date('2026-01-01T00:00:00Z'), null],
        jsonb: { a: [1, null] },
        enum: 'ADMIN',
        enums: ['ADMIN'],
      },
    ]);
  });

  it('SQL statements accept arrays that contain nulls, and accept a JSON text for a jsonb parameter', async () => {
    const text = `SELECT *, $5::jsonb AS json FROM unnest($1::text[], $2::timestamptz[], $3::int[], $4::float8[])
      AS row (text, time, int, float)`;
    const time = new Date('2026-01-02T03:04:05.678Z');
    const texts = ['NULL', '{"\\,}', null];
    const rows = await database.sql.query({ name: 'arrays', text }, [
      texts,
      [time, null, null],
      [1, null, 3],
      [0.5, null, 2],
      JSON.stringify([1, 'a']),
    ]);
    expect(rows).toEqual([
      { text: 'NULL', time, int: 1, float: 0.5, json: [1, 'a'] },
      { text: '{"\\,}', time: null, int: null, float: null, json: [1, 'a'] },
      { text: null, time: null, int: 3, float: 2, json: [1, 'a'] },
    ]);
  });

  it('SQL statements correctly read the times that Prisma writes, even when the time zone of the database is not UTC', async () => {
    const [{ name } = { name: '' }] = await database.sql.query<{ name: string }>(
      { name: 'database_name', text: 'SELECT current_database() AS name' },
      [],
    );
    await database.prisma.$executeRawUnsafe(`ALTER DATABASE "${name}" SET timezone TO 'Asia/Dubai'`);
    const again = onServer ? await openDatabase({ ...scratch, log }) : database;
    if (onServer) onTestFinished(() => again.close());

    const createdAt = new Date('2026-03-04T05:06:07.089Z');
    await again.prisma.company.create({
      data: { id: 'zone', name: 'Z', slug: 'zone', address: 'A', createdAt },
    });
    const text = `SELECT "createdAt", "createdAt" = $1::timestamptz AS same FROM "Company" WHERE id = 'zone'`;
    expect(await again.sql.query({ name: 'zone', text }, [createdAt])).toEqual([{ createdAt, same: true }]);
    expect(await again.prisma.company.findUnique({ where: { id: 'zone' } })).toMatchObject({ createdAt });
  });

  it('the gateway finds the violated unique constraint in errors of Prisma and in errors of hand-written SQL statements', async () => {
    const { prisma, sql } = database;
    const company = (id: string) => ({ id, name: 'C', slug: 'unique', address: 'A' });
    const location = (id: string) => ({ id, companyId: 'c1', name: 'L', slug: 'unique' });
    const plate = { plateType: 'DXB', plateCode: 'A', plateNumber: '7' };
    const entry = (id: string) => ({ id, locationId: 'l1', referenceId: 'r', ...plate });
    const insert = (table: string, row: Record<string, string>) =>
      sql.query(
        {
          name: `insert_${table}`,
          text: `INSERT INTO "${table}" (${Object.keys(row).map((key) => `"${key}"`)})
            VALUES (${Object.keys(row).map((_, index) => `$${index + 1}`)})`,
        },
        Object.values(row),
      );
    await prisma.company.create({ data: company('c1') });
    await prisma.location.create({ data: location('l1') });
    await prisma.whitelistEntry.create({ data: entry('w1') });

    const attempts: [string, () => Promise<unknown>][] = [
      ['company_slug_unique', () => prisma.company.create({ data: company('c2') })],
      ['company_slug_unique', () => prisma.$transaction([prisma.company.create({ data: company('c2') })])],
      ['company_slug_unique', () => prisma.$transaction((tx) => tx.company.create({ data: company('c2') }))],
      [
        'company_slug_unique',
        () => prisma.$executeRaw`UPDATE "Company" SET slug = 'unique' WHERE id = 'zone'`,
      ],
      ['company_slug_unique', () => insert('Company', company('c2'))],
      ['location_company_slug_unique', () => prisma.location.create({ data: location('l2') })],
      ['location_company_slug_unique', () => insert('Location', location('l2'))],
      ['whitelist_entry_plate_unique', () => prisma.whitelistEntry.create({ data: entry('w2') })],
      ['whitelist_entry_plate_unique', () => prisma.whitelistEntry.createMany({ data: [entry('w2')] })],
      ['whitelist_entry_plate_unique', () => insert('WhitelistEntry', entry('w2'))],
      ['Company_pkey', () => prisma.company.create({ data: { ...company('c1'), slug: 'other' } })],
    ];
    const names = [...new Set(attempts.map(([name]) => name))];
    for (const [expected, write] of attempts) {
      const error: unknown = await write().catch((reason: unknown) => reason);
      expect(isUniqueViolation(error), expected).toBe(true);
      expect(names.filter((name) => isUniqueViolation(error, name))).toEqual([expected]);
    }

    const foreignKey: unknown = await insert('Location', { ...location('l3'), companyId: 'none' }).catch(
      (e) => e,
    );
    expect(isUniqueViolation(foreignKey)).toBe(false);
    expect(isUniqueViolation(new Error('company_slug_unique'))).toBe(false);
    expect(isUniqueViolation(undefined)).toBe(false);
  });
});

describe.runIf(onServer)('deadlocks between SQL statements', () => {
  it('the gateway repeats an SQL statement that PostgreSQL cancels because of a deadlock', async () => {
    const { sql, scratch } = await openScratchDatabase();
    await sql.query({ name: '', text: 'CREATE TABLE held (id int PRIMARY KEY, value int)' }, []);
    await sql.query({ name: '', text: 'INSERT INTO held VALUES (1, 0), (2, 0)' }, []);
    const other = new pg.Client(scratch.databaseUrl!);
    await other.connect();
    onTestFinished(() => other.end());
    await other.query('BEGIN; SET LOCAL deadlock_timeout TO 60000; UPDATE held SET value = 1 WHERE id = 2');
    // The SQL statement of the gateway locks row 1 and then waits for row 2. The connection `other` has locked row 2,
    // and later waits for row 1, so that a deadlock occurs.
    const both = sql.query(
      {
        name: '',
        text: `WITH one AS MATERIALIZED (SELECT id FROM held WHERE id = 1 FOR UPDATE)
          UPDATE held SET value = value + 10 FROM one WHERE held.id = one.id + 1 RETURNING value`,
      },
      [],
    );
    const waiting = async () => {
      const { rows } = await other.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows.length;
    };
    await expect.poll(waiting).toBe(1);
    await other.query('UPDATE held SET value = 1 WHERE id = 1');
    await other.query('COMMIT');
    expect(await both).toEqual([{ value: 11 }]);
  });
});

describe.runIf(onServer)('failures of the database server', () => {
  it('when the database server closes all connections, only the running queries fail, and later queries succeed', async () => {
    const database = await openScratchDatabase();
    const other = new pg.Client({ connectionString: testServerUrl });
    await other.connect();
    onTestFinished(() => other.end());
    const terminate = () =>
      other.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [
        new URL(database.scratch.databaseUrl!).pathname.slice(1),
      ]);

    const sleeping = database.sql.query({ name: 'sleep', text: 'SELECT pg_sleep(20)' }, []);
    const transaction = database.prisma.$transaction(async (tx) => {
      await tx.company.count();
      await terminate();
      await tx.company.count();
    });
    const outcomes = await Promise.allSettled([sleeping, transaction]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);

    await terminate();
    await expect.poll(() => database.state()).toBe('ok');
    expect(await database.prisma.company.count()).toBe(0);
    expect(await database.prisma.$transaction((tx) => tx.company.count())).toBe(0);
  });

  it('opening the database fails within 4 seconds when the database server accepts the connection but does not answer', async () => {
    const mute = createServer().listen(0, '127.0.0.1');
    await once(mute, 'listening');
    onTestFinished(() => void mute.close());
    const databaseUrl = `postgresql://postgres@127.0.0.1:${(mute.address() as AddressInfo).port}/postgres`;
    const started = performance.now();
    await expect(openDatabase({ databaseUrl, dataDir: 'memory://', log })).rejects.toThrow(/DATABASE_URL/);
    expect(performance.now() - started).toBeLessThan(4_000);
  });
});
