import { describe, expect, test } from 'vitest';
import type { AuthenticatedKey, Author } from '../../src/auth/key.ts';
import type { Sql } from '../../src/database/types.ts';
import { newId } from '../../src/ids.ts';
import { createWhitelistWrites } from '../../src/whitelist/writes.ts';
import { newEntry, openTestGateway } from '../support/harness.ts';
import { locksOf } from '../support/locks.ts';
import { testServerUrl } from '../support/scratch-database.ts';

const gateway = await openTestGateway();
const { prisma, sql } = gateway.database;

/**
 * Returns functions that write whitelist entries, and two lists to which these functions add items. The list
 * `statements` records the SQL statements that the returned functions run. The list `published` records the location in
 * each change notice that these functions send.
 */
function recordedWrites() {
  const statements: { name: string; changes: number }[] = [];
  const recordingSql: Sql = {
    query(statement, values) {
      statements.push({ name: statement.name, changes: (values[0] as unknown[]).length });
      return sql.query(statement, values);
    },
  };
  const published: string[] = [];
  const whitelistNotices = { publish: (locationId: string) => void published.push(locationId) };
  return { ...createWhitelistWrites({ sql: recordingSql, whitelistNotices }), statements, published };
}

/**
 * Creates the author of a whitelist change: an API key and a request id. The scope of this API key contains only one
 * company.
 */
async function authorOf(companyId: string): Promise<Author> {
  await gateway.newKey({ companyIds: [companyId] });
  const { id } = await prisma.apiKey.findFirstOrThrow({ where: { companies: { some: { id: companyId } } } });
  const scope = { unrestricted: false, companyIds: [companyId], locationIds: [] };
  return { key: { id, ...scope } as unknown as AuthenticatedKey, requestId: newId() };
}

const valuesOf = (entry = newEntry()) => ({ ...entry, validFrom: null, validUntil: null });
const codesOf = (results: PromiseSettledResult<unknown>[]) =>
  results.map((result) =>
    result.status === 'fulfilled' ? 'ok' : ((result.reason as { code?: string }).code ?? result.reason),
  );

test('one SQL statement adds the whitelist entries of several clients, and each client gets its own result', async () => {
  const [one, other] = [await gateway.newTenant(), await gateway.newTenant()];
  const [author, otherAuthor] = [await authorOf(one.companyId), await authorOf(other.companyId)];
  const { create, statements, published } = recordedWrites();
  const values = valuesOf();
  const results = await Promise.allSettled([
    create(author, one.locationId, values),
    create(author, one.locationId, values),
    create(otherAuthor, other.locationId, values),
    create(otherAuthor, one.locationId, valuesOf()),
    create(author, newId(), valuesOf()),
  ]);
  expect(codesOf(results)).toEqual(['ok', 'DUPLICATE_VEHICLE', 'ok', 'NOT_FOUND', 'NOT_FOUND']);
  expect(statements).toEqual([{ name: 'whitelist-create', changes: 5 }]);
  expect(published.toSorted()).toEqual([one.locationId, other.locationId].toSorted());
  const records = await prisma.auditRecord.findMany({ where: { action: 'whitelist.created' } });
  expect(records.map(({ apiKeyId, requestId, companyId }) => ({ apiKeyId, requestId, companyId }))).toEqual(
    expect.arrayContaining([
      { apiKeyId: author.key.id, requestId: author.requestId, companyId: one.companyId },
      { apiKeyId: otherAuthor.key.id, requestId: otherAuthor.requestId, companyId: other.companyId },
    ]),
  );
  expect(records).toHaveLength(2);
});

test('concurrent changes of one whitelist entry run in the order in which they were called, and each successful change increases the version of the entry by one', async () => {
  const { companyId, locationId } = await gateway.newTenant();
  const author = await authorOf(companyId);
  const { create, update, statements } = recordedWrites();
  const [entry, neighbour] = [
    await create(author, locationId, valuesOf()),
    await create(author, locationId, valuesOf()),
  ];
  const noted = (id: string, note: string, version?: number) => {
    const { plateType, plateCode, plateNumber } = id === entry.id ? entry : neighbour;
    return update(
      author,
      locationId,
      id,
      { ...valuesOf(), plateType, plateCode, plateNumber, note },
      version,
    );
  };
  const results = await Promise.allSettled([
    noted(entry.id, 'first', 1),
    noted(neighbour.id, 'neighbour'),
    noted(entry.id, 'expects the first version', 1),
    noted(entry.id, 'last', 2),
  ]);
  expect(codesOf(results)).toEqual(['ok', 'ok', 'CONFLICT', 'ok']);
  expect(statements.slice(2).map(({ changes }) => changes)).toEqual([2, 1, 1]);
  expect(await prisma.whitelistEntry.findUnique({ where: { id: entry.id } })).toMatchObject({
    note: 'last',
    version: 3,
  });
});

test('when the gateway combines several whitelist updates in one SQL statement, an update with a duplicate plate does not affect the other updates', async () => {
  const { companyId, locationId } = await gateway.newTenant();
  const author = await authorOf(companyId);
  const { create, update, remove } = recordedWrites();
  const newOne = () => create(author, locationId, valuesOf());
  const [first, second, third, fourth] = await Promise.all([newOne(), newOne(), newOne(), newOne()]);
  const results = await Promise.allSettled([
    update(author, locationId, first.id, valuesOf({ ...newEntry(), note: 'changed' })),
    update(author, locationId, second.id, valuesOf({ ...newEntry(), plateNumber: fourth.plateNumber })),
    update(author, locationId, newId(), valuesOf()),
    remove(author, locationId, third.id),
  ]);
  expect(codesOf(results)).toEqual(['ok', 'DUPLICATE_VEHICLE', 'NOT_FOUND', 'ok']);
  const kept = await prisma.whitelistEntry.findMany({ where: { locationId }, orderBy: { id: 'asc' } });
  expect(kept.map(({ id, note }) => ({ id, note }))).toEqual([
    { id: first.id, note: 'changed' },
    { id: second.id, note: 'test' },
    { id: fourth.id, note: 'test' },
  ]);
});

describe.runIf(testServerUrl)('writes of several clients on PostgreSQL', () => {
  const locks = locksOf(gateway);

  test('when a plate is locked, only the client that adds this plate waits; clients that add other plates at the same time do not wait', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const author = await authorOf(companyId);
    const { create, statements } = recordedWrites();
    const locked = valuesOf();
    const release = await locks.writePlate(locationId, locked);
    const waiting = Promise.allSettled([create(author, locationId, locked)]);
    const others = await Promise.all(Array.from({ length: 8 }, () => create(author, locationId, valuesOf())));
    expect(others).toHaveLength(8);
    await expect.poll(() => locks.waitingConnections('limited AS')).toBe(1);
    expect(statements.map(({ changes }) => changes)).toEqual([9, ...Array<number>(9).fill(1)]);
    await release();
    expect(codesOf(await waiting)).toEqual(['DUPLICATE_VEHICLE']);
  });

  test('two changes that wait for a locked whitelist entry do not delay two changes of another whitelist entry', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const author = await authorOf(companyId);
    const { create, update } = recordedWrites();
    const [locked, free] = [
      await create(author, locationId, valuesOf()),
      await create(author, locationId, valuesOf()),
    ];
    const noted = ({ id, plateNumber }: typeof free, note: string) =>
      update(author, locationId, id, valuesOf({ ...newEntry(), plateNumber, note }));
    const release = await locks.lockEntry(locked.id);
    const waiting = [noted(locked, 'first'), noted(locked, 'second')];
    const others = await Promise.all([noted(free, 'first'), noted(free, 'second')]);
    expect(others.map(({ note, version }) => ({ note, version }))).toEqual([
      { note: 'first', version: 2 },
      { note: 'second', version: 3 },
    ]);
    await expect.poll(() => locks.waitingConnections('limited AS')).toBe(1);
    await release();
    expect(await Promise.all(waiting)).toMatchObject([
      { note: 'first', version: 2 },
      { note: 'second', version: 3 },
    ]);
  });
});
