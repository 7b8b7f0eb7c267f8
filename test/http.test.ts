import { connect } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { listen } from '../src/listener.ts';
import { newEntry, openTestGateway } from './harness.ts';

const gateway = await openTestGateway();
const listener = await listen(gateway.app, { host: '127.0.0.1', port: 0 });
afterAll(() => listener.close());

/** Sends bytes as they are and returns the whole answer. */
function raw(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(new URL(listener.url).port), '127.0.0.1', () =>
      socket.write(bytes, 'latin1'),
    );
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
    setTimeout(() => socket.end(), 1000).unref();
  });
}

describe('bad input over HTTP', () => {
  test.each([
    ['no JSON', '{"referenceId":'],
    ['nothing', ''],
    ['an array', '[]'],
    ['null', 'null'],
    ['a string', '"text"'],
    ['a number', '7'],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ])('is a VALIDATION_ERROR without a field when the body is %s', async (_, body) => {
    const { locationId, key } = await gateway.newTenant();
    const response = await fetch(`${listener.url}/api/locations/${locationId}/whitelist`, {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body,
    });
    const answer = await response.json();
    expect(response.status).toBe(400);
    expect(answer).toMatchObject({ success: false, error: { code: 'VALIDATION_ERROR' } });
    expect(answer.error.details).toBeUndefined();
    expect(response.headers.get('X-RateLimit-Remaining')).toMatch(/^\d+$/);
  });

  test('ignores unknown fields of a body, __proto__ among them', async () => {
    const { locationId, key } = await gateway.newTenant();
    const body = JSON.stringify(newEntry()).replace(
      '{',
      '{"__proto__":{"admin":true},"constructor":1,"color":"red",',
    );
    const answer = await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body });
    expect(answer.status).toBe(201);
  });

  test.each([
    ['a body of text/plain', { 'Content-Type': 'text/plain' }, 415],
    ['a form', { 'Content-Type': 'application/x-www-form-urlencoded' }, 415],
  ])('refuses %s', async (_, headers, status) => {
    const { key } = await gateway.newTenant();
    const answer = await gateway.rest('POST', '/locations', { key, headers, body: '{}' });
    expect(answer).toMatchObject({ status, body: { success: false, error: { code: 'VALIDATION_ERROR' } } });
  });

  test.each(['length', 'chunks'])('refuses a body over 1 MiB, sent with %s', async (sentWith) => {
    const { key } = await gateway.newTenant();
    const text = JSON.stringify({ name: 'x'.repeat(1024 * 1024) });
    const response = await fetch(`${listener.url}/api/locations`, {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json', Connection: 'close' },
      body: sentWith === 'length' ? text : new Blob([text]).stream(),
      ...(sentWith === 'chunks' && { duplex: 'half' }),
    });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ success: false, error: { code: 'VALIDATION_ERROR' } });
    expect(response.headers.get('X-RateLimit-Limit')).toMatch(/^\d+$/);
  });

  test.each([
    ['PATCH', '/companies', 'GET'],
    ['OPTIONS', '/locations', 'GET'],
    ['DELETE', '/locations/status', 'GET'],
    ['GET', '/register/company', 'POST'],
  ])('answers 405 to %s %s and says what is allowed', async (method, path, allowed) => {
    const { key } = await gateway.newTenant();
    const answer = await gateway.rest(method, path, { key });
    expect(answer).toMatchObject({ status: 405, body: { error: { code: 'VALIDATION_ERROR' } } });
    expect(answer.headers.get('Allow')?.split(', ')).toContain(allowed);
    expect(answer.headers.get('X-RateLimit-Limit')).toMatch(/^\d+$/);
  });

  test.each(['/nothing', '/companies/', '/locations/x/y/z', '/..%2f..%2fetc'])(
    'answers 404 to %s',
    async (path) => {
      const { key } = await gateway.newTenant();
      const answer = await gateway.rest('GET', path, { key });
      expect(answer).toMatchObject({ status: 404, body: { success: false, error: { code: 'NOT_FOUND' } } });
    },
  );

  test('answers HEAD like GET without a body', async () => {
    const { key } = await gateway.newTenant();
    const response = await fetch(`${listener.url}/api/companies`, {
      method: 'HEAD',
      headers: { 'X-API-Key': key },
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });

  test('answers in the envelope what the HTTP parser refuses', async () => {
    expect(await raw('NONSENSE\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"VALIDATION_ERROR"/);
    const oversized = `GET /api/health HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`;
    expect(await raw(oversized)).toMatch(/^HTTP\/1\.1 431 [\s\S]*"code":"VALIDATION_ERROR"/);
  });
});

describe('the probes', () => {
  test('need no key and say no more than ok', async () => {
    const live = await fetch(`${listener.url}/livez`);
    expect([live.status, await live.json()]).toEqual([200, { status: 'ok' }]);
    const ready = await fetch(`${listener.url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { status: 'ok', database: 'ok', limiter: 'ok' },
    ]);
  });
});

describe('the limit of a key', () => {
  test('is one budget over both surfaces; a 429 tells when to come back', async () => {
    const key = await gateway.newKey({ hourlyLimit: 3 });
    const remaining: (string | null)[] = [];
    for (const call of [
      gateway.rest('GET', '/health', { key }),
      gateway.graph('{ health { status } }', { key }),
    ]) {
      remaining.push((await call).headers.get('X-RateLimit-Remaining'));
    }
    remaining.push((await gateway.rest('GET', '/health', { key })).headers.get('X-RateLimit-Remaining'));
    expect(remaining.sort()).toEqual(['0', '1', '2']);
    for (const refused of [
      await gateway.rest('GET', '/health', { key }),
      await gateway.graph('{ __typename }', { key }),
    ]) {
      expect(refused.status).toBe(429);
      expect(refused.body.error?.code ?? refused.body.errors[0].extensions.code).toBe('RATE_LIMIT_EXCEEDED');
      expect(refused.headers.get('X-RateLimit-Limit')).toBe('3');
      expect(refused.headers.get('X-RateLimit-Remaining')).toBe('0');
      expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(3500);
      expect(Number(refused.headers.get('X-RateLimit-Reset'))).toBeGreaterThan(Date.now() / 1000 + 3500);
    }
  });

  test('charges one point for each root mutation field', async () => {
    const { locationId } = await gateway.newTenant();
    const key = await gateway.newKey({ hourlyLimit: 4, unrestricted: true });
    const rename = (name: string) =>
      `${name}: updateLocation(id: "${locationId}", input: { name: "${name}" }) { id }`;
    const three = await gateway.graph(`mutation { ${rename('a')} ${rename('b')} ${rename('c')} }`, { key });
    expect(three.body.errors).toBeUndefined();
    expect(three.headers.get('X-RateLimit-Remaining')).toBe('1');
    const two = await gateway.graph(`mutation { ${rename('d')} ${rename('e')} }`, { key });
    expect(two.status).toBe(429);
    const location = await gateway.database.prisma.location.findUniqueOrThrow({ where: { id: locationId } });
    expect(location.name).toBe('c');
  });

  test('counts requests without a valid key by their address', async () => {
    const headers = { 'X-Forwarded-For': `flood-${process.hrtime.bigint()}` };
    const statuses = [];
    for (let index = 0; index < 101; index += 1) {
      statuses.push(
        (await gateway.rest('GET', '/health', { headers, ...(index % 2 && { key: 'wrong' }) })).status,
      );
    }
    expect(statuses.slice(0, 100).every((status) => status === 401)).toBe(true);
    expect(statuses[100]).toBe(429);
  });
});
