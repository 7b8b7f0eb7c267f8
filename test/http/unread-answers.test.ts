import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync } from 'node:zlib';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { compressed } from '../../src/http/responses/compression.ts';
import { newId } from '../../src/ids.ts';
import { newSlug, openTestGateway, serve } from '../support/harness.ts';

// The gateway limits, for each API key, the memory for responses that clients have not read yet.

describe('memory of compressed responses', () => {
  const text = 'مواقف'.repeat(300_000);

  test('a compressed response counts as unread data until the client has read the whole response', async () => {
    let held = 0;
    const stream = compressed(text, 'br', (change) => (held += change));
    expect(held).toBe(Buffer.byteLength(text));
    const bytes = Buffer.from(await new Response(stream).arrayBuffer());
    expect(brotliDecompressSync(bytes).toString()).toBe(text);
    expect(held).toBe(0);
  });

  test('a compressed response no longer counts as unread data after its client disconnects', async () => {
    let held = 0;
    const reader = compressed(text, 'gzip', (change) => (held += change)).getReader();
    await reader.read();
    await reader.cancel();
    await expect.poll(() => held).toBe(0);
  });
});

describe.each(['br', 'gzip'] as const)('a compressed list (%s)', (coding) => {
  const parts = 200;

  /**
   * Creates a compressed list of 200 parts, each with 200 kB of random bytes. `list.read` counts how many of the 200
   * parts the gateway has read.
   */
  function newList() {
    const list = { read: 0, cancelled: false };
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          list.read += 1;
          controller.enqueue(randomBytes(200_000));
          if (list.read === parts) controller.close();
        },
        cancel: () => void (list.cancelled = true),
      },
      { highWaterMark: 0 },
    );
    return { list, response: compressed(body, coding, () => {}) };
  }

  test('the gateway stops reading a compressed list while the client does not read the response', async () => {
    const { list, response } = newList();
    const reader = response.getReader();
    await reader.read();
    let before = -1;
    while (before !== list.read) {
      before = list.read;
      await sleep(100);
    }
    expect(list.read).toBeLessThan(10);
    await reader.cancel();
    await expect.poll(() => list.cancelled).toBe(true);
  });

  test('when a response is sent without its body, as for a HEAD request, the gateway reads no part of the compressed list', async () => {
    const { list, response } = newList();
    await sleep(100);
    expect(list.read).toBe(0);
    await response.cancel();
    expect(list.cancelled).toBe(true);
  });
});

describe('long lists that stalled clients do not read', async () => {
  const gateway = await openTestGateway();
  const url = await serve(gateway);
  const entries = 5_000;

  test('the gateway sends a long list to a client while eight other clients leave their long lists unread', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    await gateway.database.sql.query(
      {
        name: '',
        text: `INSERT INTO "WhitelistEntry" (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber", note)
          SELECT gen_random_uuid()::text, $1, 'unit', 'DXB', 'A', i::text, repeat('n', 500) FROM generate_series(1, $2::int) i`,
      },
      [locationId, entries],
    );
    const open = async () => {
      const key = await gateway.newKey({ companyIds: [companyId] });
      const headers = { 'X-API-Key': key };
      const request = get(`${url}/api/locations/${locationId}/whitelist`, { headers });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      return response;
    };
    // The gateway reads fewer than eight lists from the database at the same time. The test requests eight lists, each
    // with a different API key. While the client does not read a list, this list must not occupy one of the gateway's
    // slots for database queries. If the eight unread lists occupied all slots for database queries, the request for a
    // ninth list would have to wait.
    const unread = await Promise.all(Array.from({ length: 8 }, open));
    const read = await buffer(await open());
    expect(JSON.parse(read.toString()).data).toHaveLength(entries);
    for (const response of unread) response.destroy();
  });
});

describe('large responses that stalled clients do not read', async () => {
  const gateway = await openTestGateway();
  const url = await serve(gateway);
  const mebibyte = 1024 * 1024;

  test('while clients of one API key do not read large responses, another API key can still read a list', async () => {
    const companies = [newId(), newId()];
    for (const id of companies) {
      await gateway.database.sql.query(
        {
          name: '',
          text: `INSERT INTO "Company" (id, name, slug, address, settings) VALUES ($1, 'Old', $2, 'Dubai',
            jsonb_build_object('text', repeat('x', $3::int)))`,
        },
        [id, newSlug(), 8 * mebibyte],
      );
    }
    const [lazy, other] = [
      await gateway.newKey({ companyIds: companies }),
      await gateway.newKey({ companyIds: companies }),
    ];
    const open = async (key: string) => {
      const request = get(`${url}/api/companies`, { headers: { 'X-API-Key': key } });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      return response;
    };
    const unread = [await open(lazy), await open(lazy), await open(lazy)];
    const read = await buffer(await open(other));
    expect(JSON.parse(read.toString()).data).toHaveLength(companies.length);
    // When a client that had stopped reading a response continues to read, it gets the complete list.
    const lengths = await Promise.all(unread.map(async (response) => (await buffer(response)).length));
    expect(lengths).toEqual(unread.map(() => read.length));
  });
});
