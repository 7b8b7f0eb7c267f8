import { setImmediate as nextIteration } from 'node:timers/promises';
import type { PGlite } from '@electric-sql/pglite';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EmbeddedAdapters } from '../../src/database/embedded-adapters.ts';
import { openDatabase } from '../../src/database/open.ts';
import type { Connections, Database } from '../../src/database/types.ts';
import { isUniqueViolation } from '../../src/database/violations.ts';
import { newId } from '../../src/ids.ts';
import { newSlug, openTestGateway } from '../support/harness.ts';
import {
  createEmbeddedDatabase,
  createScratchDatabase,
  type ScratchDatabase,
  testServerUrl,
} from '../support/scratch-database.ts';
import { surfaceNames, surfaces } from '../support/surfaces.ts';

/**
 * In these tests, the database refuses every company that has this name. The SQL statement that inserts the company
 * succeeds, but the transaction fails at its commit.
 */
const refusedName = 'Refused';

/**
 * Adds a trigger and a unique constraint to the table `Company`. The database runs the trigger and checks the
 * constraint only when a transaction commits. The trigger refuses each company with the name `refusedName`.
 */
async function refuseCommits({ prisma }: Connections): Promise<void> {
  await prisma.$executeRawUnsafe(`
    CREATE FUNCTION refuse_company() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NEW.name = '${refusedName}' THEN RAISE EXCEPTION 'refused at the commit'; END IF;
        RETURN NULL;
      END $$`);
  await prisma.$executeRawUnsafe(`
    CREATE CONSTRAINT TRIGGER refuse_company AFTER INSERT OR UPDATE ON "Company"
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_company()`);
  await prisma.$executeRawUnsafe(`
    ALTER TABLE "Company" ADD CONSTRAINT company_phone_unique UNIQUE (phone) DEFERRABLE INITIALLY DEFERRED`);
}

const newCompany = (name = refusedName) => ({ id: newId(), name, slug: newSlug(), address: 'Dubai' });

const connectionNames = ['general', 'gates', 'heavy'] as const;

/** The databases on which the tests run. The embedded database is tested even when a database server is configured. */
const databases: [string, () => Promise<ScratchDatabase>][] = [
  ['the embedded database', () => createEmbeddedDatabase()],
];
if (testServerUrl) databases.push(['PostgreSQL', () => createScratchDatabase()]);

describe.each(databases)('commits that %s refuses', (databaseName, create) => {
  let scratch: ScratchDatabase;
  let database: Database;
  let connections: Record<(typeof connectionNames)[number], Connections>;

  beforeAll(async () => {
    scratch = await create();
    database = await openDatabase({ ...scratch, log: pino({ level: 'silent' }) });
    connections = { general: database, gates: database.gates, heavy: database.heavy };
    await refuseCommits(database);
  }, 60_000);

  afterAll(async () => {
    await database.close();
    await scratch.drop();
  });

  test.each(connectionNames)(
    `when ${databaseName} refuses the commit of a transaction, the transaction fails and the next transaction succeeds (kind of connection: %s)`,
    async (name) => {
      const { prisma } = connections[name];
      const [refused, accepted] = [newCompany(), newCompany('Accepted')];
      const failing = prisma.$transaction(async (transaction) => {
        await transaction.company.create({ data: newCompany('Before') });
        return transaction.company.create({ data: refused });
      });
      await expect(failing).rejects.toThrow('refused at the commit');
      await prisma.$transaction((transaction) => transaction.company.create({ data: accepted }));
      const stored = await prisma.company.findMany({ where: { id: { in: [refused.id, accepted.id] } } });
      expect(stored.map(({ id }) => id)).toEqual([accepted.id]);
      expect(await prisma.company.count({ where: { name: 'Before' } })).toBe(0);
    },
  );

  test.each<[string, (connections: Connections) => PromiseLike<unknown>]>([
    ['single write', ({ prisma }) => prisma.company.create({ data: newCompany() })],
    [
      'list of writes',
      ({ prisma }) =>
        prisma.$transaction([
          prisma.company.create({ data: newCompany('Before') }),
          prisma.company.create({ data: newCompany() }),
        ]),
    ],
    [
      'nested write',
      ({ prisma }) =>
        prisma.company.create({
          data: { ...newCompany(), locations: { create: { id: newId(), name: 'L', slug: newSlug() } } },
        }),
    ],
    [
      'hand-written statement',
      ({ sql }) => {
        const company = newCompany();
        const text = `INSERT INTO "Company" (${Object.keys(company).map((column) => `"${column}"`)})
          VALUES ($1, $2, $3, $4)`;
        return sql.query({ name: 'refused_insert', text }, Object.values(company));
      },
    ],
  ])(`a %s fails when ${databaseName} refuses its commit`, async (_, write) => {
    for (const connection of Object.values(connections)) {
      await expect(write(connection)).rejects.toThrow('refused at the commit');
    }
    const stored = await database.prisma.company.count({ where: { name: { in: [refusedName, 'Before'] } } });
    expect(stored).toBe(0);
  });

  test(`when ${databaseName} checks a unique constraint only at the commit of a transaction, the gateway finds out which constraint is violated`, async () => {
    const twice = () =>
      database.prisma.$transaction((transaction) =>
        transaction.company.create({ data: { ...newCompany('Accepted'), phone: '1' } }),
      );
    await twice();
    const error: unknown = await twice().catch((reason: unknown) => reason);
    expect(isUniqueViolation(error, 'company_phone_unique')).toBe(true);
    expect(isUniqueViolation(error, 'company_slug_unique')).toBe(false);
  });

  test.each(connectionNames)(
    `${databaseName} rolls back a transaction when the callback of the transaction fails (kind of connection: %s)`,
    async (name) => {
      const { prisma } = connections[name];
      const failing = prisma.$transaction(async (transaction) => {
        await transaction.company.create({ data: newCompany('Before') });
        throw new Error('failed callback');
      });
      await expect(failing).rejects.toThrow('failed callback');
      expect(await prisma.company.count({ where: { name: 'Before' } })).toBe(0);
    },
  );

  test.each(connectionNames)(
    `${databaseName} rolls back a transaction when the time limit of the transaction has ended (kind of connection: %s)`,
    async (name) => {
      const { prisma } = connections[name];
      const failing = prisma.$transaction(
        async (transaction) => {
          await transaction.company.create({ data: newCompany('Before') });
          for (;;) {
            await nextIteration();
            await transaction.company.count();
          }
        },
        { timeout: 100 },
      );
      await expect(failing).rejects.toThrow(/transaction/i);
      expect(await prisma.company.count({ where: { name: 'Before' } })).toBe(0);
    },
  );
});

describe('transactions that PGlite cannot start or roll back', () => {
  const startTransaction = async (transaction: (callback: (open: unknown) => unknown) => unknown) => {
    const adapter = await new EmbeddedAdapters({ transaction } as unknown as PGlite).connect();
    return adapter.startTransaction();
  };

  test('Prisma gets the error when BEGIN fails on the embedded database', async () => {
    const failing = startTransaction(() => Promise.reject(new Error('failed begin')));
    await expect(failing).rejects.toThrow('failed begin');
  });

  test('Prisma gets the error when ROLLBACK fails on the embedded database', async () => {
    const rollback = () => Promise.reject(new Error('failed rollback'));
    const transaction = await startTransaction((callback) => callback({ rollback }));
    await expect(transaction.rollback()).rejects.toThrow('failed rollback');
  });
});

describe.each(databases)('changes that %s refuses at the commit', async (databaseName, create) => {
  const gateway = await openTestGateway({}, { database: await create() });
  await refuseCommits(gateway.database);

  test.each(surfaceNames)(
    `over %s, a client gets INTERNAL_ERROR when ${databaseName} refuses to commit the change that the client has requested`,
    async (surface) => {
      const key = await gateway.newKey();
      const input = { name: refusedName, slug: newSlug(), address: 'Dubai' };
      const answer = await surfaces[surface](
        gateway,
        {
          name: 'registerCompany',
          rest: { method: 'POST', path: '/register/company', body: input },
          graph: {
            query: 'mutation ($input: RegisterCompanyInput!) { registerCompany(input: $input) { id } }',
            variables: { input },
          },
        },
        key,
      );
      expect(answer).toMatchObject({ status: surface === 'rest' ? 500 : 200, code: 'INTERNAL_ERROR' });
      expect(await gateway.database.prisma.company.count({ where: { name: refusedName } })).toBe(0);
    },
  );
});
