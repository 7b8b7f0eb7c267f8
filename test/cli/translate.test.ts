import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openCommandLine } from '../support/command-line.ts';
import { projectFolder } from '../support/documentation.ts';
import { newEntry, sharedTestGateway, serve } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;
const url = await serve(gateway);
const { folder, json, pms, pmsWithInput } = openCommandLine(url);

const Accept = 'application/graphql-request+json';
const plate = { plateType: 'DXB', plateCode: 'A', plateNumber: '7' };
const body = { referenceId: "O'Hara, مواقف!", ...plate };
/**
 * A request body in bash's `$'…'` quotes. A browser writes `$'…'` quotes when a user copies a request as a curl
 * command.
 */
const escapedBody = String.raw`{"referenceId":"O\'Hara, \u0645\u0648\u0627\u0642\u0641\u0021","plateType":"DXB","plateCode":"A","plateNumber":"7"}`;

/**
 * Returns an entry of a HAR file that describes a REST request. The values in `changes` replace fields of the request
 * in the returned HAR entry.
 */
const harEntry = (changes: object) => ({
  request: { method: 'GET', url: 'https://parking.example/api/locations', ...changes },
});

describe('the command pms translate', () => {
  test('pms translate prints the equivalent GraphQL request for a curl command, and does not execute the request', async () => {
    const { key, locationId } = await gateway.newTenant();
    const path = `/locations/${locationId}/whitelist`;
    const entry = newEntry();
    const line = `curl -X POST ${url}/api${path} -H 'Content-Type: application/json' -d '${JSON.stringify(entry)}'`;
    const twin = await json(key, 'translate', line);
    const asked = await gateway.rest('POST', path, { key, body: entry, headers: { Accept } });
    expect(twin).toEqual(asked.body);
    expect(await prisma.whitelistEntry.count({ where: { locationId } })).toBe(0);

    const { body: served } = await gateway.graph(twin.query, { key, variables: twin.variables });
    expect(served.data.createWhitelistEntry).toMatchObject(entry);
    const shown = await pms(key, 'translate', line);
    expect(shown.code).toBe(0);
    expect(shown.out).toContain(`# POST /api${path}\nmutation CreateWhitelistEntry(`);
    expect(shown.out).toContain(`"locationId": "${locationId}"`);
  });

  test.each<[string, (address: string) => string]>([
    ['on one line', (address) => `curl "${address}" -d '${JSON.stringify({ ...body, referenceId: 'x' })}'`],
    [
      'copied from a browser',
      (address) =>
        `curl '${address}' \\\n  -H 'accept: */*' \\\n  -H 'x-api-key: pms_live_x' \\\n  --data-raw $'${escapedBody}' \\\n  --compressed`,
    ],
    ['with joined options', (address) => `curl -sSfXPOST --url ${address} --json @${bodyFile}`],
    ['with a body from a file', (address) => `curl -d@${bodyFile} ${address} -o /dev/null -w '%{http_code}'`],
    [
      'from a script',
      (address) =>
        `# add a vehicle\ncd /tmp; \n\n/usr/bin/true\ncurl -X POST -d @${bodyFile} ${address} | jq .id\n`,
    ],
    [
      'with the address of another gateway, and variables',
      () =>
        `curl -X POST "$GATEWAY/api/locations/$LOCATION_ID/whitelist#x" -H "X-API-Key: $KEY" -d @${bodyFile}`,
    ],
    [
      'with double quotes',
      (address) => `curl ${address} -d "${JSON.stringify(body).replaceAll('"', '\\"')}"`,
    ],
  ])('pms translate accepts each form of a curl command: %s', async (_, line) => {
    const { key, locationId } = await gateway.newTenant();
    const written = line(`${url}/api/locations/${locationId}/whitelist`);
    const { code, out, err } = await pmsWithInput(written, key, '--json', 'translate');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const { operationName, variables } = JSON.parse(out);
    expect(operationName).toBe('CreateWhitelistEntry');
    expect(variables.input).toEqual({
      ...body,
      referenceId: written.includes('"x"') ? 'x' : body.referenceId,
    });
    expect(variables.locationId).toBe(written.includes('$GATEWAY') ? '$LOCATION_ID' : locationId);
  });
  const bodyFile = join(folder, 'body.json');
  writeFileSync(bodyFile, JSON.stringify(body));

  test.each(['; echo done', '| jq .', '|jq .', '>out.json', '&& echo done', '& echo done', '&', ';'])(
    'pms translate ends the URL of a curl command before the shell operator %j, as bash does',
    async (operator) => {
      const { key } = await gateway.newTenant();
      const { code, out, err } = await pms(
        key,
        ...['--json', 'translate', `curl ${url}/api/locations/status${operator}`],
      );
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(JSON.parse(out).operationName).toBe('ListLocationStatuses');
    },
  );

  test('pms translate accepts every kind of white space between the words of a curl command', async () => {
    const { key, locationId } = await gateway.newTenant();
    const address = `${url}/api/locations/${locationId}/whitelist`;
    const lines = ['\u00a0', '\ufeff', '\u3000', '\u2028', '\f', '\v', '\r'].map(
      (space, index) =>
        `curl${space}-s ${space}${address}?limit=${index}${space} | jq .${space}curl x\n# a list${space}curl x`,
    );
    // The test runs pms in a separate process, because an endless loop in the test process would also stop the timeouts
    // of the test.
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--max-old-space-size=200', 'dist/pms.js', '--json', 'translate', lines.join('\n')],
      { cwd: projectFolder, env: { ...process.env, PMS_URL: url, PMS_API_KEY: key }, timeout: 60_000 },
    );
    const twins = stdout.trim().split('\n');
    expect(twins.map((twin) => JSON.parse(twin).variables.first)).toEqual(lines.map((_, index) => index));
  });

  test('pms translate keeps the query parameters and the If-Match header of a REST request', async () => {
    const { key, locationId } = await gateway.newTenant();
    const list = `${url}/api/locations/${locationId}/whitelist`;
    for (const line of [
      `curl -G ${list} --data-urlencode 'referenceId=unit 5&6' -d limit=2`,
      `curl '${list}?referenceId=unit%205%266&limit=2'`,
      `curl --get "${list}?limit=2" --data-urlencode "referenceId=unit 5&6"`,
    ]) {
      const { variables } = await json(key, 'translate', line);
      expect(variables).toEqual({ locationId, referenceId: 'unit 5&6', first: 2 });
    }
    const removal = await json(key, 'translate', `curl -X DELETE ${list}/7 -H 'if-match: "3"'`);
    expect(removal.variables).toEqual({ locationId, whitelistId: '7', expectedVersion: 3 });
  });

  test('pms translate ignores the body of a GET request, as the gateway does', async () => {
    const { key } = await gateway.newTenant();
    const twin = await json(key, 'translate', `curl -X GET ${url}/api/locations?limit=2 -d '{}'`);
    expect(twin).toMatchObject({ operationName: 'ListLocations', variables: { first: 2 } });
  });

  test('pms translate converts a repeated request of a HAR file only once, and reports skipped and refused requests', async () => {
    const { key, locationId } = await gateway.newTenant();
    const request = (method: string, path: string, text?: string) => ({
      request: {
        method,
        url: `https://parking.example${path}`,
        headers: [{ name: 'If-Match', value: '"2"' }],
        ...(text !== undefined && { postData: { mimeType: 'application/json', text } }),
      },
    });
    const entries = [
      request('GET', '/api/locations'),
      request('GET', '/assets/app.js'),
      request('GET', '/api/locations'),
      request('OPTIONS', `/api/locations/${locationId}`),
      request('PUT', `/api/locations/${locationId}`, '{"capacity":7}'),
      request('GET', '/api/parking'),
    ];
    const har = JSON.stringify({ log: { version: '1.2', entries } });
    const { code, out, err } = await pmsWithInput(har, key, '--json', 'translate');
    const twins = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(twins.map(({ operationName }) => operationName)).toEqual(['ListLocations', 'UpdateLocation']);
    expect(twins[1].variables).toEqual({ locationId, input: { capacity: 7 }, expectedVersion: 2 });
    expect(code).toBe(3);
    expect(err).toContain('GET /api/parking\n  NOT_FOUND: No such path: /api/parking');
    expect(err).toContain('Skipped requests that are repeated or are not REST requests: 3');
  });

  test.each([
    { headers: null, postData: null },
    { headers: [], postData: { text: null } },
    { headers: [{ name: 'Accept', value: null }] },
  ])('pms translate accepts a HAR file in which missing parts of a request are null: %j', async (parts) => {
    const { key } = await gateway.newTenant();
    const har = JSON.stringify({ log: { entries: [harEntry(parts)] } });
    const { code, out, err } = await pmsWithInput(har, key, '--json', 'translate');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out).operationName).toBe('ListLocations');
  });

  test('pms translate works with any valid API key, even with a key that has no permissions', async () => {
    const { locationId } = await gateway.newTenant();
    const line = `curl -X DELETE ${url}/api/locations/${locationId}/whitelist/1`;
    const key = await gateway.newKey({ permissions: ['READ_STATUS'] });
    expect(await json(key, 'translate', line)).toMatchObject({ operationName: 'DeleteWhitelistEntry' });
    expect(await pms('pms_test_x', 'translate', line)).toMatchObject({
      code: 1,
      err: expect.stringContaining('UNAUTHORIZED'),
    });
  });

  test('pms translate does not send the request to a gateway that is too old to translate requests', async () => {
    const seen: string[] = [];
    const old = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      response.setHeader('Content-Type', 'application/json').end('{"status":"healthy"}');
    });
    await new Promise<void>((resolve) => old.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void old.close().closeAllConnections());
    const address = `http://127.0.0.1:${(old.address() as AddressInfo).port}`;
    const line = `curl -X DELETE ${address}/api/locations/1/whitelist/1`;
    const { code, err } = await pms('key', '--url', address, 'translate', line);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('older than version 1.6.0') });
    expect(seen).toEqual(['GET /api/health']);
  });

  test.each([
    ['a quote that is never closed', `curl 'http://x/api/health`, 'Line 1: a single quote is not closed'],
    ['a double quote', `curl -s \\\n  "http://x/api/health\n\n`, 'Line 2: a double quote is not closed'],
    ['an ANSI-C quote', `\ncurl -d $'x http://x/api/health`, 'Line 2: a single quote is not closed'],
    ['a last backslash', 'curl http://x/api/health\\', 'Line 1: nothing follows the backslash'],
    ['an option that curl does not have', 'curl --nothing http://x/api/health', "Unknown option '--nothing'"],
    [
      'two addresses',
      'curl http://x/api/health http://x/api/locations',
      'must have exactly one address, not 2',
    ],
    ['no address', 'curl -s', 'must have exactly one address, not 0'],
    ['an address of something else', 'curl http://x/graphql', 'Not the address of a REST endpoint'],
    ['an address that leaves REST', 'curl http://x/api/../graphql', 'Not a path of the REST API'],
    ['a missing body file', 'curl -d @/nowhere http://x/api/health', 'Cannot read the body'],
    [
      'a line that is not curl',
      'wget http://x/api/health',
      'The input is neither a curl line nor a HAR file',
    ],
    ['other JSON', '{"log":{}}', 'log.entries is missing'],
    ['the JSON text null', 'null', 'log.entries is missing'],
    ['a recording without a list', '{"log":{"entries":{}}}', 'log.entries must be an array'],
    [
      'a recording without requests',
      '{"log":{"entries":[]}}',
      'The input is neither a curl line nor a HAR file',
    ],
    ...[
      ['null', null, 'log.entries.0 must be an object'],
      ['a text', 'GET', 'log.entries.0 must be an object'],
      ['a list', [], 'log.entries.0 must be an object'],
      ['no request', {}, 'log.entries.0.request must be an object'],
      ['the request null', { request: null }, 'log.entries.0.request must be an object'],
      ['no method', { request: { url: '/' } }, 'log.entries.0.request.method must be a string'],
      ['a number as URL', harEntry({ url: 1 }), 'log.entries.0.request.url must be a string'],
      ['an object as headers', harEntry({ headers: {} }), 'log.entries.0.request.headers must be an array'],
      ['a null header', harEntry({ headers: [null] }), 'log.entries.0.request.headers.0 must be an object'],
      [
        'a header without a name',
        harEntry({ headers: [{ name: 'Accept', value: '*/*' }, { value: '"1"' }] }),
        'log.entries.0.request.headers.1.name must be a string',
      ],
      [
        'a number as header value',
        harEntry({ headers: [{ name: 'If-Match', value: 1 }] }),
        'log.entries.0.request.headers.0.value must be a string',
      ],
      ['a text as body', harEntry({ postData: '{}' }), 'log.entries.0.request.postData must be an object'],
      [
        'an object as body text',
        harEntry({ postData: { text: {} } }),
        'log.entries.0.request.postData.text must be a string',
      ],
    ].map(([name, entry, message]): [string, string, string] => [
      `a recording with ${name as string} in an entry`,
      JSON.stringify({ log: { entries: [entry] } }),
      `The JSON is not a HAR file: ${message as string}\n`,
    ]),
  ])('pms translate explains why its input is invalid: %s', async (_, input, message) => {
    const { key } = await gateway.newTenant();
    const { code, out, err } = await pmsWithInput(input, key, 'translate');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });

  test('pms translate reports an error when the HAR file does not exist', async () => {
    const { code, err } = await pms('key', 'translate', '/nowhere.har');
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('Cannot read /nowhere.har') });
  });
});
