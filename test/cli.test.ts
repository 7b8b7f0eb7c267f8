import { execFile } from 'node:child_process';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { openCommandLine } from './support/command-line.ts';
import { projectFolder } from './support/documentation.ts';
import { openTestGateway, serve } from './support/harness.ts';

const gateway = await openTestGateway();
const { prisma } = gateway.database;
const url = await serve(gateway);
const { pms, json } = openCommandLine(url);

describe('pms says what is wrong', () => {
  test('with a key that opens nothing', async () => {
    const { code, err } = await pms('pms_test_x', 'whoami');
    expect(code).toBe(1);
    expect(err).toMatch(/^UNAUTHORIZED: Invalid or missing API key\n {2}request: [0-9a-f-]{36}\n$/);
  });

  test('with the field and the value that the gateway names', async () => {
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
    [
      'a key file that is not there',
      undefined,
      ['--key-file', '/nowhere', 'whoami'],
      'Cannot read the key file',
    ],
    ['a URL that is none', 'key', ['--url', 'gateway', 'whoami'], 'Not the URL of a gateway: gateway'],
    ['an unknown command', 'key', ['park'], "unknown command 'park'"],
    [
      'an unknown mode',
      'key',
      ['import', 'x', '--location', 'x', '--mode', 'merge'],
      'Allowed choices are create',
    ],
    ['a missing option', 'key', ['import', 'x'], "'--location <location>' not specified"],
    ['a plate that is none', 'key', ['whitelist', 'find', 'DXB7', '--location', 'x'], 'such as DXB/A/7001'],
    ['a number that is none', 'key', ['keys', 'rotate', 'x', '--grace-seconds', 'day'], 'Not a whole number'],
  ])('with %s', async (_, key, args, message) => {
    const { code, out, err } = await pms(key, ...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });

  test('at once when no gateway is there', async () => {
    const nobody = await listen(() => undefined, { isOpen: false });
    const { code, err } = await pms('key', '--url', nobody, 'whoami');
    expect(code).toBe(1);
    expect(err).toBe(`No answer from ${nobody} (ECONNREFUSED). Is the gateway running there?\n`);
  });

  test('when something else answers at the address', async () => {
    const other = await listen((_, response) => response.end('<html>'));
    const { code, err } = await pms('key', '--url', other, 'whoami');
    expect(code).toBe(1);
    expect(err).toContain(`${other}/graphql does not answer as a gateway does (status 200, no JSON)`);
  });
});

/** A server on a port of its own, until the test ends; or one that has ended already. */
async function listen(answer: RequestListener, { isOpen = true } = {}): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const end = () => void server.close(() => undefined).closeAllConnections();
  if (isOpen) onTestFinished(end);
  else end();
  return `http://127.0.0.1:${port}`;
}

describe('a gateway that redirects', () => {
  test.each([301, 302, 307, 308])('with %s gets no key at the other address', async (status) => {
    const keysSeen: unknown[] = [];
    const other = await listen((request, response) => {
      keysSeen.push(request.headers['x-api-key']);
      response.end('{"data":{"viewer":{}}}');
    });
    const target = `${other}/graphql`;
    const redirecting = await listen((_, response) => response.writeHead(status, { Location: target }).end());
    for (const command of [['whoami'], ['status', '--watch']]) {
      const { code, err } = await pms('key', '--url', redirecting, ...command);
      expect(code).toBe(1);
      expect(err).toBe(
        `${redirecting} redirects to ${target}, and the key was not sent there. If this is your gateway, name it with --url.\n`,
      );
    }
    expect(keysSeen).toEqual([]);
  });
});

test('a gateway that fails after it has answered is asked again', async () => {
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
  expect(found).toMatchObject({ code: 0, err: expect.stringContaining('going on in 1 second') });
  expect(requests).toBe(3);
});

describe('a name in place of an id', () => {
  test('finds a location by its slug or name', async () => {
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

  test('that several locations have lists them', async () => {
    const { key, companyId } = await gateway.newTenant();
    const ids = [await gateway.newLocation(companyId), await gateway.newLocation(companyId)];
    await prisma.location.updateMany({ where: { id: { in: ids } }, data: { name: 'Twin' } });
    const { code, err } = await pms(key, 'status', 'Twin');
    expect(code).toBe(1);
    expect(err).toMatch(/^"Twin" names 2 locations; give the id of one:\n/);
    for (const id of ids) expect(err).toContain(`  ${id}  `);
  });

  test('that nothing has is said', async () => {
    const { key } = await gateway.newTenant();
    expect(await pms(key, 'status', 'nowhere')).toMatchObject({
      code: 1,
      err: 'No location that the key reaches has the slug or name "nowhere".\n',
    });
  });

  test('without the permission to look for it says which one is missing', async () => {
    const { companyId } = await gateway.newTenant();
    const gate = await gateway.newKey({ companyIds: [companyId], permissions: ['READ_STATUS'] });
    expect(await pms(gate, 'status', 'north')).toMatchObject({
      code: 1,
      err: 'To find a location by its slug or name the key needs READ_LOCATIONS: give its id.\n',
    });
  });
});

test('tables fit 100 columns and keep ids whole', async () => {
  const { key, companyId, locationId } = await gateway.newTenant();
  const admin = await gateway.newKey({ companyIds: [companyId], locationIds: [locationId] });
  await prisma.company.update({ where: { id: companyId }, data: { name: 'A very long name '.repeat(5) } });
  await json(key, 'whitelist', 'add', 'DXB/A/1', '--location', locationId, '--reference', 'x'.repeat(100));
  const hook = ['https://203-0-113.example/' + 'hook/'.repeat(100), '--event', 'PARKING_ENTERED'];
  await json(key, 'webhooks', 'create', ...hook);
  const lists = [
    ['companies', 'list'],
    ['locations', 'list'],
    ['keys', 'list'],
    ['webhooks', 'list'],
    ['status'],
    ['whoami'],
    ['usage'],
    ['whitelist', 'list', '--location', locationId],
    ['whitelist', 'find', 'DXB/A/1', '--location', locationId],
  ];
  for (const command of lists) {
    const { out } = await pms(admin, ...command);
    expect(Math.max(...out.split('\n').map(({ length }) => length)), out).toBeLessThanOrEqual(100);
    const { id } = ([await json(admin, ...command)].flat()[0] ?? {}) as { id?: string };
    if (id) expect(out).toContain(id);
  }
});

describe('the program', () => {
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
  ])('%s prints nothing but JSON into a pipe', async (_, script) => {
    const { key } = await gateway.newTenant();
    expect((await runShell(`KEY=${key}\n${script}`)).stdout).toBe('Test\n');
  });

  test('ends without noise when its reader has seen enough', async () => {
    expect(await runShell('set +o pipefail; node dist/pms.js --json whoami | true')).toMatchObject({
      stderr: '',
    });
  });

  test('says its version', async () => {
    expect(await pms(undefined, '--version')).toEqual({ code: 0, out: `${packageJson.version}\n`, err: '' });
  });

  test('completes commands, options and their values in bash', async () => {
    const complete = (...words: string[]) =>
      runShell(
        `source <(node dist/pms.js completion bash); COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); ` +
          `COMP_CWORD=${words.length - 1}; _pms; echo "\${COMPREPLY[@]}"`,
      );
    expect((await complete('pms', 'wh')).stdout).toBe('whoami whitelist\n');
    expect((await complete('pms', '--json', 'keys', 'r')).stdout).toBe('rotate revoke\n');
    expect((await complete('pms', 'import', 'x.csv', '--mo')).stdout).toBe('--mode\n');
    expect((await complete('pms', 'import', 'x.csv', '--mode', '')).stdout).toBe('create upsert replace\n');
    expect((await complete('pms', 'completion', '')).stdout).toBe('bash zsh --help\n');
  });

  test('prints a script for zsh with the same commands', async () => {
    const { out } = await pms(undefined, 'completion', 'zsh');
    expect(out).toMatch(/^#compdef pms\n/);
    expect(out).toContain("'whitelist add')");
  });
});
