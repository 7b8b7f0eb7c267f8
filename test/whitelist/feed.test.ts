import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { Prisma } from '../../prisma/generated/client/client.ts';
import { newId } from '../../src/ids.ts';
import { createFeedCursors, type FeedCursor } from '../../src/whitelist/feed/cursor.ts';
import { newEntry, sharedTestGateway } from '../support/harness.ts';
import { locksOf } from '../support/locks.ts';
import { testServerUrl } from '../support/scratch-database.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;
const feedCursors = createFeedCursors(gateway.config.keyPepper);

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

/**
 * Creates a client that keeps a copy of a whitelist. The client reads the changes of the whitelist from the whitelist
 * feed.
 */
function createFollower(key: string, locationId: string, first?: number) {
  const copy = new Map<string, { plateNumber: string; note: string | null }>();
  let cursor: string | undefined;
  return {
    copy,
    /**
     * Reads the whitelist feed up to its last page, and applies the changes to the client's copy of the whitelist.
     */
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

/** Reads the entries of a whitelist from the database. */
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

describe('the feed of whitelist changes', () => {
  test('the whitelist feed first returns the whole whitelist in pages, and then only the changes', async () => {
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

  test('when whitelist entries are removed while a client reads the first pages of the whitelist feed, a later page reports the removals', async () => {
    const { key, locationId } = await gateway.newTenant();
    const entries = [await addEntry(key, locationId), await addEntry(key, locationId)];
    const page = await readPage(key, locationId, undefined, 1);
    for (const { id } of entries) await removeEntry(key, locationId, id);
    const rest = await readPage(key, locationId, page.cursor, 1);
    const changes = await readPage(key, locationId, rest.cursor);
    expect(changes.removals.map(({ id }) => id).sort()).toEqual(entries.map(({ id }) => id).sort());
  });

  test('a page of the whitelist feed contains a whitelist entry only once, even after many changes of the entry', async () => {
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

  test('a page of the whitelist feed contains a whitelist entry only once, even when the gateway reads the changes in several chunks', async () => {
    const { key, locationId } = await gateway.newTenant();
    const [changed, removed] = [await addEntry(key, locationId), await addEntry(key, locationId)];
    const { cursor } = await readPage(key, locationId);
    // 600 updates of two whitelist entries cause 1,200 changes, so that the gateway reads the changes in several
    // chunks.
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

  test('when a whitelist entry was changed and then removed, the whitelist feed reports only the removal', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { cursor } = await readPage(key, locationId);
    const { id } = await addEntry(key, locationId);
    await changeEntry(key, locationId, id, { plateNumber: '4711' });
    await removeEntry(key, locationId, id);
    const page = await readPage(key, locationId, cursor);
    expect(page).toMatchObject({ upserts: [], removals: [{ id, plateNumber: '4711' }], hasMore: false });
    // When each page of the whitelist feed contains only one change, the changes of this whitelist entry are on several
    // pages. The first page that contains a change of this whitelist entry already reports the removal of the entry,
    // and reports no earlier change of it.
    const first = await readPage(key, locationId, cursor, 1);
    expect(first).toMatchObject({ upserts: [], removals: [{ id }], hasMore: true });
  });

  test('when a plate is removed and added again, the whitelist feed reports the removal and a new whitelist entry', async () => {
    const { key, locationId } = await gateway.newTenant();
    const follower = createFollower(key, locationId);
    const { id, plateNumber } = await addEntry(key, locationId);
    await follower.follow();
    await removeEntry(key, locationId, id);
    const again = await addEntry(key, locationId, { plateNumber });
    expect(await follower.follow()).toEqual({ resets: 0, changes: 2 });
    expect([...follower.copy.keys()]).toEqual([again.id]);
  });

  test('when a removed whitelist entry is restored with the same id, the whitelist feed reports the entry as changed, not as removed', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { id } = await addEntry(key, locationId);
    const { cursor } = await readPage(key, locationId);
    const entry = await prisma.whitelistEntry.findUniqueOrThrow({ where: { id } });
    await removeEntry(key, locationId, id);
    await prisma.whitelistEntry.create({ data: { ...entry, hours: Prisma.DbNull } });
    expect(await readPage(key, locationId, cursor)).toMatchObject({ upserts: [{ id }], removals: [] });
  });

  test('a client of the whitelist feed has the correct whitelist after imports that replace the whole whitelist', async () => {
    const { key, locationId } = await gateway.newTenant();
    const follower = createFollower(key, locationId, 3);
    const kept = newEntry();
    for (const entries of [[kept, newEntry(), newEntry()], [kept, newEntry()], [newEntry()]]) {
      expect((await replaceAll(key, locationId, entries)).body.errors).toBeUndefined();
      await follower.follow();
      expect(follower.copy).toEqual(await listed(locationId));
    }
  });

  test('reading a page of up to 5,000 entries of the whitelist feed costs one rate limit point', async () => {
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
    ['a text that is not a cursor', () => 'nonsense'],
    ['the cursor of another location', (cursor: string) => cursor],
  ])('the whitelist feed refuses the argument `after` when it is %s', async (_, cursorOf) => {
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

  test('the whitelist feed returns NOT_FOUND for a location outside the scope, and FORBIDDEN without the permission READ_WHITELIST', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const { key: outsider } = await gateway.newTenant();
    const writer = await gateway.newKey({ companyIds: [companyId], permissions: ['WRITE_WHITELIST'] });
    for (const [key, code] of [
      [outsider, 'NOT_FOUND'],
      [writer, 'FORBIDDEN'],
    ] as const) {
      const { body } = await gateway.graph(document, { key, variables: { locationId } });
      expect(body.errors[0].extensions.code).toBe(code);
    }
  });
});

/** Returns the decoded content of a feed cursor that this gateway has signed. */
const decode = (cursor: string) => feedCursors.decode(cursor) as FeedCursor;

/** Returns an unsigned feed cursor, like the cursors that releases before 1.6.0 created. */
const unsigned = (cursor: object) => Buffer.from(JSON.stringify(cursor)).toString('base64url');

/**
 * Returns a feed cursor with a valid signature and a changed position. The fields in `part` replace fields of the
 * position in the cursor, and all other fields of this position stay unchanged.
 */
async function cursorWith(locationId: string, key: string, part: object) {
  const decoded = decode((await readPage(key, locationId)).cursor);
  return feedCursors.encode({ ...decoded, next: { ...decoded.next, ...part } });
}

describe('feed cursors without a valid signature of the gateway', () => {
  test.each([
    [
      'changed content and the original signature',
      (cursor: string) => {
        const [content, signature] = cursor.split('.');
        const decoded = JSON.parse(Buffer.from(content!, 'base64url').toString());
        const next = { ...decoded.next, newestRecordId: newId() };
        return `${unsigned({ ...decoded, next })}.${signature}`;
      },
    ],
    ['another signature', (cursor: string) => `${cursor.split('.')[0]}.${'A'.repeat(43)}`],
    [
      'a signature with another last character',
      (cursor: string) => {
        const last = cursor.at(-1)!;
        // The last base64 character of a feed cursor encodes four bits of the signature and two unused bits. The test
        // changes only the two unused bits in the last character of the cursor.
        return cursor.slice(0, -1) + String.fromCharCode(last.charCodeAt(0) + 1);
      },
    ],
    [
      'the signature of another pepper',
      (cursor: string) => createFeedCursors('another pepper').encode(decode(cursor)),
    ],
    [
      'no signature and a time of 500 digits',
      (cursor: string) => {
        const { next, ...decoded } = decode(cursor);
        return unsigned({
          ...decoded,
          next: { ...next, takenAt: `2026-01-01T00:00:00.${'0'.repeat(500)}Z` },
        });
      },
    ],
    ['a character outside of base64url', (cursor: string) => `${cursor}\u0000`],
  ])('a feed cursor with %s is refused', async (_, forge) => {
    const { key, locationId } = await gateway.newTenant();
    const { cursor } = await readPage(key, locationId);
    const variables = { locationId, after: forge(cursor) };
    const { body } = await gateway.graph(document, { key, variables });
    expect(body.errors[0].extensions).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { field: 'after' },
    });
  });

  test('when a client sends an unsigned cursor from a release before 1.6.0, the whitelist feed starts with the whole whitelist again', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { key: neighbour, locationId: neighbouring } = await gateway.newTenant();
    await addEntry(neighbour, neighbouring);
    const { id } = await addEntry(key, locationId);
    const foreign = await prisma.auditRecord.findFirstOrThrow({ where: { locationId: neighbouring } });
    const { cursor } = await readPage(key, locationId);
    const { next, ...decoded } = decode(cursor);
    for (const newestRecordId of [next.newestRecordId, foreign.id, newId(), null]) {
      const former = unsigned({ ...decoded, next: { ...next, newestRecordId } });
      const page = await readPage(key, locationId, former);
      expect(page).toMatchObject({ reset: true, upserts: [{ id }], removals: [] });
      expect(await readPage(key, locationId, page.cursor)).toMatchObject({ reset: false, upserts: [] });
    }
  });
});

test.each([
  ['a database id with a control character', { life: '\u0000' }],
  ['a snapshot that ends before it begins', { snapshot: '5:3:' }],
  ['a snapshot with a transaction from before its begin', { snapshot: '5:9:3' }],
  ['the year 0000', { takenAt: '0000-01-01T00:00:00Z' }],
])('a feed cursor with %s is refused before the gateway sends an SQL statement', async (_, part) => {
  const { key, locationId } = await gateway.newTenant();
  const { body } = await gateway.graph(document, {
    key,
    variables: { locationId, after: await cursorWith(locationId, key, part) },
  });
  expect(body.errors[0].extensions).toMatchObject({ code: 'VALIDATION_ERROR', details: { field: 'after' } });
});

describe('feed cursors from which the feed cannot continue', () => {
  test.each([
    ['is from the database before a restore', { life: '0'.repeat(32) }],
    [
      'contains a transaction that a restored backup does not contain',
      { snapshot: '900000000000:900000000000:' },
    ],
    ['contains a change that a restored backup does not contain', { newestRecordId: newId() }],
    ['is older than the retained changes', { takenAt: '2020-01-01T00:00:00.000Z' }],
  ])('the whitelist feed starts with the whole whitelist again when the cursor %s', async (_, part) => {
    const { key, locationId } = await gateway.newTenant();
    const { id } = await addEntry(key, locationId);
    const page = await readPage(key, locationId, await cursorWith(locationId, key, part));
    expect(page).toMatchObject({ reset: true, upserts: [{ id }], removals: [] });
    expect(await readPage(key, locationId, page.cursor)).toMatchObject({ reset: false, upserts: [] });
  });

  test('the whitelist feed starts again with the whole whitelist when the gateway has deleted the changes after the cursor', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { cursor } = await readPage(key, locationId);
    const entries = [await addEntry(key, locationId), await addEntry(key, locationId)];
    const { cursor: underWay } = await readPage(key, locationId, cursor, 1);
    const { round, ...decoded } = decode(underWay);
    if (!round || !('since' in round)) throw new Error('The cursor is not in a round of changes');
    const since = { ...round.since, takenAt: '2020-01-01T00:00:00.000Z' };
    const after = feedCursors.encode({ ...decoded, round: { ...round, since } });
    expect(await readPage(key, locationId, after)).toMatchObject({
      reset: true,
      upserts: entries.map(({ id }) => ({ id })),
    });
    expect(await readPage(key, locationId, underWay)).toMatchObject({
      reset: false,
      upserts: [{ id: entries[1]!.id }],
    });
  });

  test('when a client requests the second page of changes with an unsigned cursor, the whitelist feed starts with the whole whitelist again', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { id } = await addEntry(key, locationId);
    const { cursor } = await readPage(key, locationId);
    const { next } = decode(cursor);
    const after = unsigned({ locationId, next, round: { since: next, changedIn: '1', id } });
    expect(await readPage(key, locationId, after)).toMatchObject({ reset: true, upserts: [{ id }] });
  });
});

describe.runIf(testServerUrl)('the whitelist feed under concurrent writes', () => {
  const locks = locksOf(gateway);

  /**
   * Creates a generator of pseudo-random numbers that are at least 0 and less than 1. With the same seed, the generator
   * returns the same numbers in every test run.
   */
  function createRandom(seed: number) {
    let state = seed;
    return () => {
      state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
      return state / 2 ** 32;
    };
  }

  test.each([1, 2, 3])(
    'a client that follows the whitelist feed has a correct copy of the whitelist when transactions commit in a random order (random seed %i)',
    async (seed) => {
      const { key, locationId } = await gateway.newTenant();
      const follower = createFollower(key, locationId, 7);
      const random = createRandom(seed);
      let running = true;

      /**
       * Changes whitelist entries in transactions, and rolls back about a tenth of the transactions. Each transaction
       * stays open for a random time of up to 60 ms, so concurrent transactions end in a random order.
       */
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

  test('no acknowledged change is lost when 8 clients write to one location and 50 clients write to 50 locations at the same time', async () => {
    const { key, companyId, locationId } = await gateway.newTenant();
    const ownLocations = await Promise.all(Array.from({ length: 50 }, () => gateway.newLocation(companyId)));
    const follower = createFollower(key, locationId, 7);
    const commitLate = await locks.writePlate(locationId, newEntry());

    /**
     * Adds, changes and removes whitelist entries, and returns the ids of the whitelist entries that it added and did
     * not remove.
     */
    async function write(location: string, rounds: number): Promise<string[]> {
      const kept: string[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const [first, second] = await Promise.all([addEntry(key, location), addEntry(key, location)]);
        const answers = await Promise.all([
          changeEntry(key, location, first.id, { note: `round ${round}` }),
          removeEntry(key, location, second.id),
        ]);
        expect(answers.map(({ status }) => status)).toEqual([200, 200]);
        kept.push(first.id);
      }
      return kept;
    }

    let running = true;
    const shared = Promise.all(Array.from({ length: 8 }, () => write(locationId, 8)));
    const own = Promise.all(ownLocations.map((location) => write(location, 2)));
    const writers = Promise.all([shared, own]).finally(() => (running = false));
    while (running) await follower.follow();
    const [keptByShared, keptByOwn] = await writers;
    await commitLate();
    await follower.follow();

    const entries = await listed(locationId);
    expect(follower.copy).toEqual(entries);
    expect([...entries.keys()]).toEqual(expect.arrayContaining(keptByShared.flat()));
    expect(entries.size).toBe(keptByShared.flat().length + 1);
    for (const [index, location] of ownLocations.entries()) {
      expect([...(await listed(location)).keys()].toSorted()).toEqual(keptByOwn[index]!.toSorted());
    }
  });
});

describe('the subscription whitelistChanged', () => {
  /**
   * Opens the subscription `whitelistChanged` for a location. Returns a function that waits for a notice about a
   * whitelist change, and then ends the subscription.
   */
  async function watch(key: string, locationId: string) {
    const response = await gateway.app.request('/graphql', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream', 'X-API-Key': key },
      body: JSON.stringify({
        query: `subscription { whitelistChanged(locationId: "${locationId}") { locationId cursor } }`,
      }),
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    return async () => {
      let text = '';
      while (!text.includes('"cursor"')) text += (await reader.read()).value ?? '';
      await reader.cancel();
      return /"cursor":"([^"]+)"/.exec(text)![1]!;
    };
  }

  test('after a change of the whitelist, the subscription whitelistChanged sends a cursor for the whitelist feed that points after the change', async () => {
    const { key, locationId } = await gateway.newTenant();
    const before = await readPage(key, locationId);
    const nextCursor = await watch(key, locationId);
    const { id } = await addEntry(key, locationId);
    const cursor = await nextCursor();
    expect((await readPage(key, locationId, before.cursor)).upserts).toMatchObject([{ id }]);
    expect(await readPage(key, locationId, cursor)).toMatchObject({
      upserts: [],
      removals: [],
      reset: false,
    });
  });

  test.each([
    [
      'a single parking event',
      'mutation ($locationId: ID!, $event: ParkingEventInput!) { recordParkingEvent(locationId: $locationId, input: $event) { id } }',
    ],
    [
      'a batch of parking events',
      'mutation ($locationId: ID!, $event: ParkingEventInput!) { recordParkingEvents(locationId: $locationId, events: [$event]) { recorded } }',
    ],
  ])(
    'the subscription whitelistChanged announces a use of a whitelist entry with `maxEntries` when a client records %s',
    async (_, query) => {
      const { key, locationId } = await gateway.newTenant();
      const { id } = await addEntry(key, locationId);
      const { plateType, plateCode, plateNumber } = await gateway.database.prisma.whitelistEntry.update({
        where: { id },
        data: { maxEntries: 1 },
      });
      const before = await readPage(key, locationId);
      const nextCursor = await watch(key, locationId);
      const plate = { plateType, plateCode, plateNumber };
      const event = { eventId: newId(), kind: 'ENTRY', plate, occurredAt: new Date().toISOString() };
      const { body } = await gateway.graph(query, { key, variables: { locationId, event } });
      expect(body.errors).toBeUndefined();
      await nextCursor();
      expect((await readPage(key, locationId, before.cursor)).upserts).toMatchObject([{ id }]);
    },
  );

  test('the subscription whitelistChanged announces a new time zone of the location', async () => {
    const { key, locationId } = await gateway.newTenant();
    const nextCursor = await watch(key, locationId);
    const { status } = await gateway.rest('PUT', `/locations/${locationId}`, {
      key,
      body: { timezone: 'Asia/Tokyo' },
    });
    expect(status).toBe(200);
    await nextCursor();
  });
});
