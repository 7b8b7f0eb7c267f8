import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { Prisma } from '../prisma/generated/client/client.ts';
import { newId } from '../src/ids.ts';
import { encodeFeedCursor } from '../src/whitelist/feed-cursor.ts';
import { newEntry, openTestGateway } from './support/harness.ts';
import { testServerUrl } from './support/scratch-database.ts';

const gateway = await openTestGateway();
const { prisma } = gateway.database;

interface Page {
  upserts: { id: string; plateNumber: string; note: string | null }[];
  removals: { id: string; plateNumber: string }[];
  cursor: string;
  hasMore: boolean;
  reset: boolean;
}

const document = `query ($locationId: ID!, $after: String, $first: Int) {
  whitelistChanges(locationId: $locationId, after: $after, first: $first) {
    upserts { id plateNumber note } removals { id plateNumber } cursor hasMore reset
  }
}`;

async function readPage(key: string, locationId: string, after?: string, first = 1000): Promise<Page> {
  const { body } = await gateway.graph(document, { key, variables: { locationId, after, first } });
  expect(body.errors?.[0]?.message).toBeUndefined();
  return body.data.whitelistChanges;
}

/** A client that keeps a copy of a whitelist. */
function createFollower(key: string, locationId: string, first?: number) {
  const copy = new Map<string, { plateNumber: string; note: string | null }>();
  let cursor: string | undefined;
  return {
    copy,
    /** Reads everything that there is now. */
    async follow(): Promise<{ resets: number; changes: number }> {
      let [resets, changes] = [0, 0];
      for (let hasMore = true; hasMore;) {
        const page = await readPage(key, locationId, cursor, first);
        if (page.reset) copy.clear();
        resets += Number(page.reset);
        changes += page.upserts.length + page.removals.length;
        for (const { id } of page.removals) copy.delete(id);
        for (const { id, ...entry } of page.upserts) copy.set(id, entry);
        ({ cursor, hasMore } = page);
      }
      return { resets, changes };
    },
  };
}

/** The whitelist as the database has it. */
async function listed(locationId: string) {
  const entries = await prisma.whitelistEntry.findMany({ where: { locationId } });
  return new Map(entries.map(({ id, plateNumber, note }) => [id, { plateNumber, note }]));
}

const addEntry = async (key: string, locationId: string, fields = {}) =>
  (await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: newEntry(fields) })).body
    .data as { id: string; plateNumber: string };

const changeEntry = (key: string, locationId: string, id: string, fields = {}) =>
  gateway.rest('PUT', `/locations/${locationId}/whitelist/${id}`, { key, body: newEntry(fields) });

const removeEntry = (key: string, locationId: string, id: string) =>
  gateway.rest('DELETE', `/locations/${locationId}/whitelist/${id}`, { key });

const replaceAll = (key: string, locationId: string, entries: object[]) =>
  gateway.graph(
    `mutation ($locationId: ID!, $entries: [WhitelistEntryInput!]!) {
      importWhitelistEntries(locationId: $locationId, entries: $entries, mode: REPLACE) { created deleted rejected }
    }`,
    { key, variables: { locationId, entries } },
  );

describe('the feed of a whitelist', () => {
  test('is the whole list in pages, and then only what changed', async () => {
    const { key, locationId } = await gateway.newTenant();
    const [first, second, third] = [
      await addEntry(key, locationId),
      await addEntry(key, locationId),
      await addEntry(key, locationId),
    ];
    const page = await readPage(key, locationId, undefined, 2);
    expect(page).toMatchObject({ hasMore: true, reset: false, removals: [] });
    expect(page.upserts.map(({ id }) => id)).toEqual([first.id, second.id]);
    const rest = await readPage(key, locationId, page.cursor, 2);
    expect(rest).toMatchObject({ hasMore: false, reset: false });
    expect(rest.upserts.map(({ id }) => id)).toEqual([third.id]);

    expect(await readPage(key, locationId, rest.cursor)).toMatchObject({ upserts: [], removals: [] });
    await changeEntry(key, locationId, first.id, { note: 'changed' });
    await removeEntry(key, locationId, second.id);
    const changes = await readPage(key, locationId, rest.cursor);
    expect(changes.upserts).toMatchObject([{ id: first.id, note: 'changed' }]);
    expect(changes.removals).toEqual([{ id: second.id, plateNumber: second.plateNumber }]);
    expect(await readPage(key, locationId, changes.cursor)).toMatchObject({ upserts: [], removals: [] });
  });

  test('tells of entries that are removed while the list is read', async () => {
    const { key, locationId } = await gateway.newTenant();
    const entries = [await addEntry(key, locationId), await addEntry(key, locationId)];
    const page = await readPage(key, locationId, undefined, 1);
    for (const { id } of entries) await removeEntry(key, locationId, id);
    const rest = await readPage(key, locationId, page.cursor, 1);
    const changes = await readPage(key, locationId, rest.cursor);
    expect(changes.removals.map(({ id }) => id).sort()).toEqual(entries.map(({ id }) => id).sort());
  });

  test('tells an entry once in a page, however often it was changed', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { cursor } = await readPage(key, locationId);
    const { id } = await addEntry(key, locationId);
    for (const note of ['first', 'second', 'last']) await changeEntry(key, locationId, id, { note });
    const other = await addEntry(key, locationId);
    const page = await readPage(key, locationId, cursor);
    expect(page).toMatchObject({ upserts: [{ id, note: 'last' }, { id: other.id }], removals: [] });
    const follower = createFollower(key, locationId, 1);
    await follower.follow();
    expect(follower.copy).toEqual(await listed(locationId));
  });

  test('tells an entry once in a page that is read in parts', async () => {
    const { key, locationId } = await gateway.newTenant();
    const [changed, removed] = [await addEntry(key, locationId), await addEntry(key, locationId)];
    const { cursor } = await readPage(key, locationId);
    // More changes than a part of a page has.
    for (const note of Array.from({ length: 600 }, (_, change) => String(change))) {
      await prisma.$executeRaw`UPDATE "WhitelistEntry" SET note = ${note} WHERE "locationId" = ${locationId}`;
    }
    await removeEntry(key, locationId, removed.id);
    const page = await readPage(key, locationId, cursor, 5000);
    expect(page).toMatchObject({
      upserts: [{ id: changed.id, note: '599' }],
      removals: [{ id: removed.id }],
      hasMore: false,
    });
  });

  test('tells only the removal of an entry that was changed and then removed', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { cursor } = await readPage(key, locationId);
    const { id } = await addEntry(key, locationId);
    await changeEntry(key, locationId, id, { plateNumber: '4711' });
    await removeEntry(key, locationId, id);
    const page = await readPage(key, locationId, cursor);
    expect(page).toMatchObject({ upserts: [], removals: [{ id, plateNumber: '4711' }], hasMore: false });
    // In pages of one change, each of them says that it is gone.
    const first = await readPage(key, locationId, cursor, 1);
    expect(first).toMatchObject({ upserts: [], removals: [{ id }], hasMore: true });
  });

  test('tells a plate that was removed and added again as another entry', async () => {
    const { key, locationId } = await gateway.newTenant();
    const follower = createFollower(key, locationId);
    const { id, plateNumber } = await addEntry(key, locationId);
    await follower.follow();
    await removeEntry(key, locationId, id);
    const again = await addEntry(key, locationId, { plateNumber });
    expect(await follower.follow()).toEqual({ resets: 0, changes: 2 });
    expect([...follower.copy.keys()]).toEqual([again.id]);
  });

  test('tells an entry that was restored under its identifier', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { id } = await addEntry(key, locationId);
    const { cursor } = await readPage(key, locationId);
    const entry = await prisma.whitelistEntry.findUniqueOrThrow({ where: { id } });
    await removeEntry(key, locationId, id);
    await prisma.whitelistEntry.create({ data: { ...entry, hours: Prisma.DbNull } });
    expect(await readPage(key, locationId, cursor)).toMatchObject({ upserts: [{ id }], removals: [] });
  });

  test('follows imports that replace the whole list', async () => {
    const { key, locationId } = await gateway.newTenant();
    const follower = createFollower(key, locationId, 3);
    const kept = newEntry();
    for (const entries of [[kept, newEntry(), newEntry()], [kept, newEntry()], [newEntry()]]) {
      expect((await replaceAll(key, locationId, entries)).body.errors).toBeUndefined();
      await follower.follow();
      expect(follower.copy).toEqual(await listed(locationId));
    }
  });

  test('costs one point for a page of five thousand entries', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { headers: before } = await gateway.rest('GET', '/health', { key });
    const { headers: after } = await gateway.graph(
      `query ($locationId: ID!) { whitelistChanges(locationId: $locationId, first: 5000) {
        upserts { id locationId referenceId plateType plateCode plateNumber vehicleType note validFrom validUntil createdAt updatedAt }
        removals { id plateType plateCode plateNumber } cursor hasMore reset } }`,
      { key, variables: { locationId } },
    );
    const remaining = (headers: Headers) => Number(headers.get('x-ratelimit-remaining'));
    expect(remaining(before) - remaining(after)).toBe(1);
  });

  test.each([
    ['a text that is no cursor', () => 'nonsense'],
    ['a cursor of another location', (cursor: string) => cursor],
  ])('refuses %s', async (_, cursorOf) => {
    const { key, locationId } = await gateway.newTenant();
    const other = await gateway.newTenant();
    const { cursor } = await readPage(other.key, other.locationId);
    const { body } = await gateway.graph(document, {
      key,
      variables: { locationId, after: cursorOf(cursor) },
    });
    expect(body.errors[0].extensions).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { field: 'after' },
    });
  });

  test('is NOT_FOUND for a location out of reach, and FORBIDDEN without READ_WHITELIST', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const { key: stranger } = await gateway.newTenant();
    const writer = await gateway.newKey({ companyIds: [companyId], permissions: ['WRITE_WHITELIST'] });
    for (const [key, code] of [
      [stranger, 'NOT_FOUND'],
      [writer, 'FORBIDDEN'],
    ] as const) {
      const { body } = await gateway.graph(document, { key, variables: { locationId } });
      expect(body.errors[0].extensions.code).toBe(code);
    }
  });
});

/** The cursor of a follower whose position differs in a part. */
async function cursorWith(locationId: string, key: string, part: object) {
  const { cursor } = await readPage(key, locationId);
  const decoded = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  return encodeFeedCursor({ ...decoded, next: { ...decoded.next, ...part } });
}

// Positions of several clients are looked up by one statement: what it could fail on must not reach it.
test.each([
  ['a life with a control character', { life: '\u0000' }],
  ['a snapshot that ends before it begins', { snapshot: '5:3:' }],
  ['a snapshot with a transaction from before its begin', { snapshot: '5:9:3' }],
  ['a time before every calendar', { takenAt: '0000-01-01T00:00:00Z' }],
])('a cursor with %s is refused before any statement', async (_, part) => {
  const { key, locationId } = await gateway.newTenant();
  const { body } = await gateway.graph(document, {
    key,
    variables: { locationId, after: await cursorWith(locationId, key, part) },
  });
  expect(body.errors[0].extensions).toMatchObject({ code: 'VALIDATION_ERROR', details: { field: 'after' } });
});

describe('a cursor from which the feed cannot go on', () => {
  test.each([
    ['is of another life of the database', { life: '0'.repeat(32) }],
    ['knows transactions that a restored backup does not', { snapshot: '900000000000:900000000000:' }],
    ['knows a change that a restored backup does not', { newestRecordId: newId() }],
    ['is older than the changes that are kept', { takenAt: '2020-01-01T00:00:00.000Z' }],
  ])('starts the whole list again when it %s', async (_, part) => {
    const { key, locationId } = await gateway.newTenant();
    const { id } = await addEntry(key, locationId);
    const page = await readPage(key, locationId, await cursorWith(locationId, key, part));
    expect(page).toMatchObject({ reset: true, upserts: [{ id }], removals: [] });
    expect(await readPage(key, locationId, page.cursor)).toMatchObject({ reset: false, upserts: [] });
  });

  test('starts the whole list again when its round began before the changes that are kept', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { cursor } = await readPage(key, locationId);
    const entries = [await addEntry(key, locationId), await addEntry(key, locationId)];
    const { cursor: underWay } = await readPage(key, locationId, cursor, 1);
    const decoded = JSON.parse(Buffer.from(underWay, 'base64url').toString());
    const since = { ...decoded.round.since, takenAt: '2020-01-01T00:00:00.000Z' };
    const after = encodeFeedCursor({ ...decoded, round: { ...decoded.round, since } });
    expect(await readPage(key, locationId, after)).toMatchObject({
      reset: true,
      upserts: entries.map(({ id }) => ({ id })),
    });
    expect(await readPage(key, locationId, underWay)).toMatchObject({
      reset: false,
      upserts: [{ id: entries[1]!.id }],
    });
  });

  test('starts the whole list again in the middle of a round of a release before', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { id } = await addEntry(key, locationId);
    const { cursor } = await readPage(key, locationId);
    const { next } = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const ofBefore = { ...next, life: '0'.repeat(32) };
    const round = { since: ofBefore, changedIn: '1', id };
    const after = Buffer.from(JSON.stringify({ locationId, next: ofBefore, round })).toString('base64url');
    expect(await readPage(key, locationId, after)).toMatchObject({ reset: true, upserts: [{ id }] });
  });
});

describe.runIf(testServerUrl)('with writers at the same time', () => {
  /** Numbers from 0 to below 1 that are the same in every run. */
  function createRandom(seed: number) {
    let state = seed;
    return () => {
      state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
      return state / 2 ** 32;
    };
  }

  test.each([1, 2, 3])(
    'the copy of a follower equals the table, however late transactions commit (seed %i)',
    async (seed) => {
      const { key, locationId } = await gateway.newTenant();
      const follower = createFollower(key, locationId, 7);
      const random = createRandom(seed);
      let running = true;

      /** Changes entries in transactions that stay open for a while and end in any order, some of them in vain. */
      async function write(): Promise<void> {
        const client = new pg.Client({ connectionString: gateway.config.databaseUrl! });
        await client.connect();
        const own: string[] = [];
        for (let round = 0; round < 25; round += 1) {
          await client.query('BEGIN');
          for (let change = 0; change < 3; change += 1) {
            const [id] = own;
            if (id && random() < 0.3) {
              await client.query('DELETE FROM "WhitelistEntry" WHERE id = $1', [id]);
              own.shift();
            } else if (id && random() < 0.4) {
              await client.query('UPDATE "WhitelistEntry" SET note = $2 WHERE id = $1', [id, String(round)]);
            } else {
              const added = newId();
              await client.query(
                `INSERT INTO "WhitelistEntry" (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber")
                 VALUES ($1, $2, 'r', 'DXB', 'A', $3)`,
                [added, locationId, String(newEntry().plateNumber)],
              );
              own.push(added);
            }
            await client.query('SELECT pg_sleep($1)', [random() * 0.02]);
          }
          const { rows } = await client.query(`SELECT id FROM "WhitelistEntry" WHERE id = ANY($1)`, [own]);
          const isKept = random() > 0.1;
          await client.query(isKept ? 'COMMIT' : 'ROLLBACK');
          if (!isKept) {
            const after = await client.query('SELECT id FROM "WhitelistEntry" WHERE id = ANY($1)', [own]);
            own.splice(0, own.length, ...after.rows.map(({ id }) => id as string));
          } else own.splice(0, own.length, ...rows.map(({ id }) => id as string));
        }
        await client.end();
      }

      const writers = Promise.all(Array.from({ length: 8 }, write)).finally(() => (running = false));
      while (running) await follower.follow();
      await writers;
      await follower.follow();
      expect(follower.copy).toEqual(await listed(locationId));
      expect(await follower.follow()).toEqual({ resets: 0, changes: 0 });
    },
  );
});

test('a subscription says that a whitelist has changed, with the cursor of who has read it', async () => {
  const { key, locationId } = await gateway.newTenant();
  const before = await readPage(key, locationId);
  const response = await gateway.app.request('/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream', 'X-API-Key': key },
    body: JSON.stringify({
      query: `subscription { whitelistChanged(locationId: "${locationId}") { locationId cursor } }`,
    }),
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const { id } = await addEntry(key, locationId);
  while (!text.includes('"cursor"')) text += (await reader.read()).value ?? '';
  await reader.cancel();
  const [, cursor] = /"cursor":"([^"]+)"/.exec(text)!;
  expect((await readPage(key, locationId, before.cursor)).upserts).toMatchObject([{ id }]);
  expect(await readPage(key, locationId, cursor)).toMatchObject({ upserts: [], removals: [], reset: false });
});
