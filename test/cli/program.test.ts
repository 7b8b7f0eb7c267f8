import { execFile } from 'node:child_process';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { reasonOf, retryAfterSeconds } from '../../cli/gateway-fetch.ts';
import { StatusChangedDocument } from '../../cli/generated/operations.ts';
import { createSubscriber } from '../../cli/subscription.ts';
import { openCommandLine } from '../support/command-line.ts';
import { projectFolder } from '../support/documentation.ts';
import { sharedTestGateway, serve } from '../support/harness.ts';
import { forwardGraph } from '../support/http-server.ts';
import { testServerUrl } from '../support/scratch-database.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;
const url = await serve(gateway);
const { pms, json, fileOf } = openCommandLine(url);

describe('error messages of pms', () => {
  test('pms prints an error when the gateway refuses the API key', async () => {
    const { code, err } = await pms('pms_test_x', 'whoami');
    expect(code).toBe(1);
    expect(err).toMatch(/^UNAUTHORIZED: Invalid or missing API key\n {2}request: [0-9a-f-]{36}\n$/);
  });

  test('when the gateway rejects a value, pms prints the value and the name of its field', async () => {
    const { key } = await gateway.newTenant();
    const unknown = '01900000-0000-7000-8000-000000000000';
    const { code, err } = await pms(key, 'export', '--location', unknown);
    expect(code).toBe(1);
    expect(err).toContain(
      `NOT_FOUND: Location not found or not accessible\n  field: locationId\n  value: "${unknown}"`,
    );
  });

  test.each([
    ['no key', undefined, ['whoami'], 'set PMS_API_KEY'],
    ['a missing key file', undefined, ['--key-file', '/nowhere', 'whoami'], 'Cannot read the key file'],
    ['an invalid URL', 'key', ['--url', 'gateway', 'whoami'], 'Not the URL of a gateway: gateway'],
    [
      'a URL with a query',
      'key',
      ['--url', 'http://127.0.0.1:1/?key=secret', 'whoami'],
      'The URL of a gateway must have no query (?) and no fragment (#)',
    ],
    [
      'a URL with a fragment',
      'key',
      ['--url', 'http://127.0.0.1:1/#/console', 'whoami'],
      'The URL of a gateway must have no query (?) and no fragment (#)',
    ],
    ['an unknown command', 'key', ['park'], "unknown command 'park'"],
    [
      'an unknown mode',
      'key',
      ['import', 'x', '--location', 'x', '--mode', 'merge'],
      'Allowed choices are create',
    ],
    ['a missing option', 'key', ['import', 'x'], "'--location <location>' not specified"],
    ['an invalid plate', 'key', ['whitelist', 'find', 'DXB7', '--location', 'x'], 'such as DXB/A/7001'],
    ['an invalid number', 'key', ['keys', 'rotate', 'x', '--grace-seconds', 'day'], 'Must be a whole number'],
    [
      'a number that is too large',
      'key',
      ['quotas', 'set', 'x', '--location', 'x', '--inside', '9'.repeat(400)],
      'Must be a smaller number',
    ],
    ['a limit of 0', 'key', ['whitelist', 'list', '--location', 'x', '--limit', '0'], 'Must be at least 1'],
    ['a limit of 0', 'key', ['webhooks', 'deliveries', 'x', '--limit', '0'], 'Must be at least 1'],
    ['an invalid time', 'key', ['parity', '--to', 'today'], 'Must be an ISO 8601 date'],
  ])('pms exits with status 2 and explains the mistake: %s', async (_, key, args, message) => {
    const { code, out, err } = await pms(key, ...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });

  test('pms reports at once that no server listens at the given address', async () => {
    const closedServer = await listen(() => undefined, { isOpen: false });
    const { code, err } = await pms('key', '--url', closedServer, 'whoami');
    expect(code).toBe(1);
    expect(err).toBe(`No answer from ${closedServer} (ECONNREFUSED). Is the gateway running there?\n`);
  });

  describe('a server address at which another program listens', () => {
    const json = (body: unknown) => listen((_, response) => response.end(JSON.stringify(body)));
    const page = (_: unknown, response: ServerResponse) =>
      response.setHeader('Content-Type', 'text/html; charset=utf-8').end('<html>');
    const notHttp = 'its answer is not HTTP (a TLS port needs https://)';

    test.each([
      ['an HTML page', () => listen(page), 'status 200 with text/html instead of JSON'],
      ['unrelated JSON', () => json({ hello: 1 }), 'status 200 with JSON that is not a GraphQL response'],
      [
        'JSON with one text for all errors',
        () => json({ errors: 'not found' }),
        'status 200 with JSON that is not a GraphQL response',
      ],
      [
        'JSON with a list of texts as errors',
        () => json({ errors: ['not found'] }),
        'status 200 with JSON that is not a GraphQL response',
      ],
      ['a list', () => json([]), 'status 200 with JSON that is not a GraphQL response'],
      [
        'the banner of another protocol',
        () => listenRaw((socket) => socket.end('SSH-2.0-OpenSSH\r\n')),
        notHttp,
      ],
      ['a TLS alert', () => listenRaw((socket) => socket.end('\x15\x03\x01\x00\x02\x02\x46')), notHttp],
      [
        'a closed connection, as from a database',
        () => listenRaw((socket) => socket.destroy()),
        'it closed the connection',
      ],
    ])(
      'pms says that the server is not a gateway when the server answers with %s',
      async (_, start, difference) => {
        const address = await start();
        expect(await pms('key', '--url', address, 'whoami')).toEqual({
          code: 1,
          out: '',
          err: `${address}/graphql is not a parking gateway: ${difference}. Check the address.\n`,
        });
      },
    );

    test('when the user gives an https address of a server without TLS, pms reports that the server does not use TLS', async () => {
      const address = (await listen(page)).replace('http:', 'https:');
      const { err } = await pms('key', '--url', address, 'whoami');
      expect(err).toBe(
        `${address}/graphql is not a parking gateway: its answer is not TLS (a port without TLS needs http://). Check the address.\n`,
      );
    });

    test('the command `pms translate` reports an error when the server at the given address is not a gateway', async () => {
      for (const status of [200, 404]) {
        const other = await listen((_, response) => response.writeHead(status).end('{"hello":1}'));
        const { err } = await pms('key', '--url', other, 'translate', `curl ${other}/api/locations`);
        expect(err).toContain(`${other}/api/health is not a parking gateway: `);
      }
    });

    test.runIf(testServerUrl)(
      'pms says that the server is not a gateway when the address belongs to PostgreSQL or Redis',
      async () => {
        for (const server of [testServerUrl!, process.env.REDIS_URL!]) {
          const { hostname, port } = new URL(server);
          const { err } = await pms('key', '--url', `http://${hostname}:${port}`, 'whoami');
          expect(err).toContain('is not a parking gateway: it closed the connection.');
        }
      },
    );
  });
});

/**
 * Starts an HTTP server, which closes when the test ends, and returns its URL. With `isOpen: false`, the function
 * closes the server immediately, and no server listens at the returned URL.
 */
async function listen(answer: RequestListener, { isOpen = true } = {}): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const end = () => void server.close(() => undefined).closeAllConnections();
  if (isOpen) onTestFinished(end);
  else end();
  return `http://127.0.0.1:${port}`;
}

/** Starts a TCP server that does not answer in HTTP, and returns its URL. The TCP server runs until the test ends. */
async function listenRaw(answer: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the URL of a gateway behind a proxy', () => {
  /** Starts a server that answers every request with status 404, and records the paths of the requests. */
  async function recordPaths() {
    const paths: string[] = [];
    const address = await listen(({ url: path }, response) => {
      paths.push(path!);
      response.writeHead(404).end('{}');
    });
    return { address, paths };
  }

  test.each([
    ['/parking', '/parking'],
    ['/parking/', '/parking'],
    ['/a/b//', '/a/b'],
    ['/graphql', ''],
    ['/parking/graphql/', '/parking'],
    ['/', ''],
    ['', ''],
  ])('pms sends all requests below the path of the URL %j', async (path, prefix) => {
    const { address, paths } = await recordPaths();
    for (const command of [['whoami'], ['translate', 'curl http://x/api/locations']]) {
      expect(await pms('key', '--url', address + path, ...command)).toMatchObject({ code: 1 });
    }
    expect(paths).toEqual([`${prefix}/graphql`, `${prefix}/api/health`]);
  });

  test('if the URL of the gateway has a path, pms opens GraphQL subscriptions below this path', async () => {
    const { address, paths } = await recordPaths();
    const subscriber = createSubscriber({ url: `${address}/parking/`, key: 'key' });
    const statuses = subscriber.results(StatusChangedDocument, { locationId: '1' });
    await expect(statuses.next()).rejects.toThrow('rejected the stream with status 404');
    expect(paths).toEqual(['/parking/graphql']);
  });

  test('pms works with a gateway behind a proxy that removes a prefix from the path of each request', async () => {
    const { key, locationId } = await gateway.newTenant();
    const proxy = await listen(async (request, response) => {
      if (!request.url!.startsWith('/parking/')) return void response.writeHead(404).end('{}');
      const answer = await fetch(url + request.url!.slice('/parking'.length), {
        method: request.method!,
        headers: {
          'Content-Type': 'application/json',
          Accept: request.headers.accept ?? '*/*',
          'X-API-Key': key,
        },
        ...(request.method === 'POST' && { body: Buffer.concat(await request.toArray()) }),
      });
      response.setHeader('Content-Type', answer.headers.get('Content-Type') ?? '');
      response.writeHead(answer.status).end(await answer.text());
    });
    const address = ['--url', `${proxy}/parking`];
    expect(await json(key, ...address, 'status')).toMatchObject([{ locationId }]);
    const line = 'curl https://example.com/parking/api/locations?limit=2';
    expect(await json(key, ...address, 'translate', line)).toMatchObject({ variables: { first: 2 } });
  });

  test('when the URL of the gateway contains a path, pms translate sends no request to a path outside of this path', async () => {
    const { address, paths } = await recordPaths();
    const line = 'curl http://x/api/../../api/locations';
    await pms('key', '--url', `${address}/parking`, 'translate', line);
    expect(paths).toEqual(['/parking/api/health']);
  });
});

describe('redirects of the server that pms calls', () => {
  test.each([301, 302, 307, 308])(
    'pms does not send its API key to the target of a redirect with status %s',
    async (status) => {
      const keysSeen: unknown[] = [];
      const other = await listen((request, response) => {
        keysSeen.push(request.headers['x-api-key']);
        response.end('{"data":{"viewer":{}}}');
      });
      const target = `${other}/graphql`;
      const redirecting = await listen((_, response) =>
        response.writeHead(status, { Location: target }).end(),
      );
      for (const command of [['whoami'], ['status', '--watch']]) {
        const { code, err } = await pms('key', '--url', redirecting, ...command);
        expect(code).toBe(1);
        expect(err).toBe(
          `${redirecting} redirects to ${target}. The key was not sent there. If that is your gateway, give its address with --url.\n`,
        );
      }
      expect(keysSeen).toEqual([]);
    },
  );
});

test('when the second request of a pms command gets status 503, pms repeats only this request', async () => {
  const { key, companyId } = await gateway.newTenant();
  const { slug } = await prisma.company.findUniqueOrThrow({ where: { id: companyId } });
  let requests = 0;
  const failing = await listen(async (request, response) => {
    requests += 1;
    if (requests === 2) return void response.writeHead(503).end('{}');
    const chunks = await request.toArray();
    const answer = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
      body: Buffer.concat(chunks),
    });
    response.end(await answer.text());
  });
  const found = await pms(key, '--url', failing, 'locations', 'list', '--company', slug);
  expect(found).toMatchObject({ code: 0, err: expect.stringContaining('retrying in 1 second') });
  expect(requests).toBe(3);
});

test('pms stops after 100 retries when every response to a request has status 429', async () => {
  let requests = 0;
  const limiting = await listen((_, response) => {
    requests += 1;
    response.writeHead(429, { 'Retry-After': '0' }).end('{}');
  });
  const { code, out, err } = await pms('key', '--url', limiting, 'whoami');
  expect({ code, out, requests }).toEqual({ code: 1, out: '', requests: 101 });
  expect(err).toMatch(/The rate limit of the key is reached, also after 100 retries\. Try again later\.\n$/);
});

test.each([
  [429, /^A server before the gateway limits the requests \(status 429\); retrying in 0 seconds\n$/],
  [503, /status 503 with text\/html instead of JSON\. Check the address\.; retrying in 0 seconds\n$/],
])(
  'when a proxy answers with status %i and an HTML page, pms retries after the time in the Retry-After header',
  async (status, message) => {
    const { key, companyId } = await gateway.newTenant();
    const { slug } = await prisma.company.findUniqueOrThrow({ where: { id: companyId } });
    let requests = 0;
    const proxy = await listen(async (request, response) => {
      requests += 1;
      const body = Buffer.concat(await request.toArray());
      if (requests !== 2) return forwardGraph({ url, key, body }, response);
      response.writeHead(status, { 'Retry-After': '0', 'Content-Type': 'text/html' }).end('<html>');
    });
    const { code, err } = await pms(key, '--url', proxy, 'locations', 'list', '--company', slug);
    expect({ code, err, requests }).toEqual({ code: 0, err: expect.stringMatching(message), requests: 3 });
  },
);

test('when the gateway refuses a request because too many changes are already waiting, pms sends the request again', async () => {
  let requests = 0;
  const busy = await listen((_, response) => {
    requests += 1;
    const refused = { message: 'Too many changes are waiting', extensions: { code: 'RATE_LIMIT_EXCEEDED' } };
    const answer =
      requests === 1 ? { data: { me: null }, errors: [refused] } : { errors: [{ message: 'ran' }] };
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
  });
  const { err } = await pms('key', '--url', busy, 'whoami');
  expect(err).toContain('Too many changes are waiting');
  expect(err).toContain('ran');
  expect(requests).toBe(2);
});

test.each([
  [502, '{"errors":null}', 'The gateway failed; try again later'],
  [200, '{"data":null,"errors":null}', 'The answer has no data'],
])('pms prints an error when a response with status %i has the body %s', async (status, body, message) => {
  const proxy = await listen((_, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
  });
  const answer = await pms('key', '--url', proxy, 'whoami');
  expect(answer).toMatchObject({ code: 1, out: '', err: expect.stringContaining(message) });
});

test('pms waits at most one hour before it repeats a request, even if the Retry-After header asks for a longer pause', () => {
  const wait = (value: string) =>
    retryAfterSeconds(new Response(null, { headers: { 'Retry-After': value } }));
  expect(wait('3600')).toBe(3600);
  expect(wait('999999999')).toBe(3600);
});

describe('names that pms accepts in place of ids', () => {
  test('pms finds a location by the slug or name that the user gives in place of an id', async () => {
    const { key, companyId, locationId } = await gateway.newTenant();
    await prisma.location.update({ where: { id: locationId }, data: { name: 'North gate' } });
    const { slug } = await prisma.location.findUniqueOrThrow({ where: { id: locationId } });
    for (const name of [locationId, slug, 'North gate']) {
      expect(await json(key, 'status', name)).toMatchObject([{ locationId }]);
    }
    const company = await prisma.company.findUniqueOrThrow({ where: { id: companyId } });
    expect(await json(key, 'locations', 'list', '--company', company.slug)).toMatchObject([
      { id: locationId },
    ]);
  });

  test('pms lists the possible locations when several locations have the given name', async () => {
    const { key, companyId } = await gateway.newTenant();
    const ids = [await gateway.newLocation(companyId), await gateway.newLocation(companyId)];
    await prisma.location.updateMany({ where: { id: { in: ids } }, data: { name: 'Twin' } });
    const { code, err } = await pms(key, 'status', 'Twin');
    expect(code).toBe(1);
    expect(err).toMatch(/^"Twin" names 2 locations; give the complete id of one:\n/);
    for (const id of ids) expect(err).toContain(`  ${id}  `);
  });

  test('pms reports an error when no location has the given name', async () => {
    const { key } = await gateway.newTenant();
    expect(await pms(key, 'status', 'nowhere')).toMatchObject({
      code: 1,
      err: `No location in the key's scope has the id, slug or name "nowhere".\n`,
    });
  });

  test('pms prints the missing permission when the API key may not look up a location by name', async () => {
    const { companyId } = await gateway.newTenant();
    const gate = await gateway.newKey({ companyIds: [companyId], permissions: ['READ_STATUS'] });
    expect(await pms(gate, 'status', 'north')).toMatchObject({
      code: 1,
      err: 'The key needs READ_LOCATIONS to look up a location. Give the complete id of the location instead.\n',
    });
  });
});

describe('secret values that pms must not print', () => {
  const secret = 'pms_live_0123456789';
  const rule = 'The API key must be printable ASCII characters without white space';

  test.each([
    ['two lines', `${secret}\nsecond\n`],
    ['a space', `${secret} second`],
    ['a control character', `${secret}\u0000second`],
    ['a character that is not ASCII', `${secret}é`],
    ['a character that is not Latin-1', `${secret}€`],
    ['no key', '\n'],
  ])('pms refuses an API key with %s, and does not print the key', async (_, text) => {
    const file = fileOf(text);
    for (const command of [['whoami'], ['status', '--watch'], ['translate', 'curl http://x/api/locations']]) {
      expect(await pms(undefined, '--key-file', file, ...command)).toEqual({
        code: 2,
        out: '',
        err: `${rule}: correct ${file}\n`,
      });
      expect(await pms(text, ...command)).toEqual({
        code: 2,
        out: '',
        err: `${rule}: correct PMS_API_KEY\n`,
      });
    }
  });

  test('pms ignores white space before and after the API key', async () => {
    const { key } = await gateway.newTenant();
    expect((await pms(`${key}\r\n`, 'whoami')).code).toBe(0);
    expect((await pms(undefined, '--key-file', fileOf(`\ufeff ${key}\r\n`), 'whoami')).code).toBe(0);
  });

  test('pms translate does not print the value of an invalid header', async () => {
    const { key } = await gateway.newTenant();
    for (const character of ['\u0000', '\u0001', '€']) {
      const line = `curl -X DELETE -H 'If-Match: ${secret}${character}' ${url}/api/locations/1/whitelist/1`;
      expect(await pms(key, 'translate', line)).toEqual({
        code: 2,
        out: '',
        err: `Cannot send the request to ${url}: its address or a header is invalid\n`,
      });
    }
  });

  test('when pms listen cannot forward a webhook message, it prints the reason of the failure without any header value', async () => {
    for (const character of ['\u0000', '\u0001', '€']) {
      const error: unknown = await fetch(url, { headers: [['X-Signature', secret + character]] }).catch(
        (thrown: unknown) => thrown,
      );
      expect(reasonOf(error)).toBe('the request was not sent: its address or a header is invalid');
    }
  });

  test('pms translate does not print the API key of a curl command whose header has no quotation marks', async () => {
    const line = `curl -H X-API-Key: ${secret} ${url}/api/locations`;
    const { code, err } = await pms('key', 'translate', line);
    expect({ code, err }).toEqual({
      code: 2,
      err: 'A curl line must have exactly one address, not 2. Quote each header and each address that contains spaces.\n',
    });
    const only = await pms('key', 'translate', `curl -H X-API-Key: ${secret}`);
    expect(only).toMatchObject({ code: 2, err: expect.not.stringContaining(secret) });
  });

  test.each(["'", '"', "$'"])(
    'pms translate does not print the text after an unclosed quotation mark: %s',
    async (quote) => {
      const line = `curl -s ${url}/api/locations \\\n -H ${quote}X-API-Key: ${secret}`;
      const { code, err } = await pms('key', 'translate', line);
      expect({ code, err }).toEqual({
        code: 2,
        err: expect.stringMatching(/^Line 2: a .+ is not closed\n$/),
      });
    },
  );

  test('when the URL of a curl command contains a password, pms translate does not print the password', async () => {
    for (const [address, shown] of [
      [`https://user:${secret}@host/health?key=${secret}`, ': https://host/health'],
      [`user:${secret}@host/health`, '; an address contains /api/'],
      [`https://user:${secret}@ho st/health`, '; an address contains /api/'],
    ]) {
      const { code, err } = await pms('key', 'translate', `curl '${address}'`);
      expect({ code, err }).toEqual({ code: 2, err: `Not the address of a REST endpoint${shown}\n` });
    }
  });

  test('when the address of the gateway contains a password, pms does not print the password', async () => {
    const address = url.replace('://', `://operator:${secret}@`);
    const { code, err } = await pms('key', '--url', address, 'whoami');
    expect(code).toBe(2);
    expect(err).toBe(`Cannot send the request to ${url}: its address or a header is invalid\n`);
    for (const scheme of ['', 'ftp://']) {
      expect(await pms('key', '--url', `${scheme}operator:${secret}@host`, 'whoami')).toMatchObject({
        code: 2,
        err: 'Not the URL of a gateway: …@host\n',
      });
    }
  });
});

describe('the installed program pms', () => {
  const runShell = async (script: string) =>
    promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
      cwd: projectFolder,
      env: { ...process.env, PMS_URL: url, PMS_API_KEY: (await gateway.newTenant()).key },
    });
  const printName = `node -p 'JSON.parse(fs.readFileSync(0)).name'`;

  test.each([
    ['npx pms', `npx pms --json whoami | ${printName}`],
    ['node dist/pms.js', `node dist/pms.js --json whoami | ${printName}`],
    [
      'a key file on the standard input',
      `unset PMS_API_KEY; echo $KEY | node dist/pms.js --key-file - --json whoami | ${printName}`,
    ],
  ])('pms --json prints nothing but JSON when its output is a pipe (%s)', async (_, script) => {
    const { key } = await gateway.newTenant();
    expect((await runShell(`KEY=${key}\n${script}`)).stdout).toBe('Test\n');
  });

  test('when the API key and the imported file would both come from standard input, pms fails, and prints neither the key nor the file', async () => {
    const { key } = await gateway.newTenant();
    const script = `unset PMS_API_KEY; printf '%s\\n' ${key} referenceId,plateType | node dist/pms.js --key-file - import - --location x`;
    await expect(runShell(script)).rejects.toMatchObject({
      code: 2,
      stdout: '',
      stderr:
        'The API key must be printable ASCII characters without white space: correct the standard input\n',
    });
  });

  test('pms ends without an error message when the program that reads its output closes the pipe', async () => {
    expect(await runShell('set +o pipefail; node dist/pms.js --json whoami | true')).toMatchObject({
      stderr: '',
    });
  });

  test('pms prints its version', async () => {
    expect(await pms(undefined, '--version')).toEqual({ code: 0, out: `${packageJson.version}\n`, err: '' });
  });

  test('the bash completion of pms suggests commands, options and their values', async () => {
    const complete = (...words: string[]) =>
      runShell(
        `source <(node dist/pms.js completion bash); COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); ` +
          `COMP_CWORD=${words.length - 1}; _pms; echo "\${COMPREPLY[@]}"`,
      );
    expect((await complete('pms', 'wh')).stdout).toBe('whoami whitelist\n');
    expect((await complete('pms', '--json', 'keys', 'r')).stdout).toBe('rotate revoke\n');
    expect((await complete('pms', 'import', 'x.csv', '--mo')).stdout).toBe('--mode\n');
    expect((await complete('pms', 'import', 'x.csv', '--mode', '')).stdout).toBe('create replace upsert\n');
    expect((await complete('pms', 'completion', '')).stdout).toBe('bash zsh fish --help\n');
  });

  test('the fish completion of pms suggests commands, options, values and files, with explanations', async () => {
    const complete = async (line: string) => {
      const { stdout } = await promisify(execFile)(
        'fish',
        ['--no-config', '-c', `node dist/pms.js completion fish | source; complete -C '${line}'`],
        { cwd: projectFolder },
      );
      return stdout.trim().split('\n');
    };
    expect(await complete('pms wh')).toEqual([
      expect.stringMatching(/^whitelist\t/),
      'whoami\tshow the current key',
    ]);
    // The order of the completions in fish depends on the locale of the machine, so the test sorts the completions.
    const named = async (line: string) =>
      (await complete(line)).map((candidate) => candidate.split('\t')[0]).toSorted();
    expect(await named('pms --json keys r')).toEqual(['revoke', 'rotate']);
    expect(await named('pms import x.csv --mo')).toEqual(['--mode']);
    expect(await named('pms import x.csv --mode ')).toEqual(['create', 'replace', 'upsert']);
    expect(await named('pms completion ')).toEqual(['--help', 'bash', 'fish', 'zsh']);
    expect(await named('pms import pack')).toEqual(['package-lock.json', 'package.json']);
    expect(await named('pms sync --output pack')).toEqual(['package-lock.json', 'package.json']);
    expect(await named('pms keys pack')).not.toContain('package.json');
  });

  test('pms prints a zsh completion script with the same commands as the bash script', async () => {
    const { out } = await pms(undefined, 'completion', 'zsh');
    expect(out).toMatch(/^#compdef pms\n/);
    expect(out).toContain("'whitelist add')");
  });
});
