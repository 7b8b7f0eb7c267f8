import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { curlCalls } from '../../cli/curl.ts';

const folder = mkdtempSync(join(tmpdir(), 'parking-curl-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'body.txt');
writeFileSync(file, 'a b\r\nc\n');

/** Returns the REST request of the only curl command in a shell script. */
function callOf(script: string) {
  const [call, ...others] = curlCalls(script);
  expect(others).toEqual([]);
  return call!;
}

const address = 'http://x/api/locations';

// The expected bodies, paths and requests in this file are those that curl 7.88 sends.

test.each([
  [`--json '{"a":1,' --json '"b":2}'`, '{"a":1,"b":2}'],
  ['-d a=1 --json x', 'a=1x'],
  ['--json x -d a=1', 'x&a=1'],
  [`--data-raw 1 -d 2 --data-binary 3 --data-urlencode '4' -d 5`, '1&2&3&4&5'],
  [`-d '' -d x -d '' -d y`, 'x&&y'],
  [`-d ''`, ''],
  [`-d @${file} --data-binary @${file} --data-raw @x`, 'a bc&a b\r\nc\n&@x'],
  [
    `--data-urlencode =1=2 --data-urlencode n@${file} --data-urlencode @${file} --data-urlencode a@b=@c`,
    '1%3D2&n=a%20b%0D%0Ac%0A&a%20b%0D%0Ac%0A&a@b=%40c',
  ],
])('pms translate joins the values of the options %j to a request body as curl does', (options, body) => {
  expect(callOf(`curl ${address} ${options}`)).toMatchObject({ method: 'POST', body });
});

test.each([
  ['?', '/api/locations?a=1'],
  ['?b=2', '/api/locations?b=2&a=1'],
  ['?b=2&', '/api/locations?b=2&a=1'],
])('pms translate appends the data of `curl -G` to a URL that ends with %j', (query, path) => {
  expect(callOf(`curl -G '${address}${query}' -d a=1`)).toEqual({ method: 'GET', path });
});

test('pms translate keeps the header If-Match of a `curl -G` command, and joins several If-Match headers to one', () => {
  const line = `curl -X DELETE -G ${address}/1 -d a=1 -H 'If-Match: "1"' -H 'if-match: "2"'`;
  expect(callOf(line)).toMatchObject({ method: 'DELETE', ifMatch: '"1", "2"' });
});

describe('the option `-H @file` of a curl command', () => {
  const headers = join(folder, 'headers.txt');

  test('pms translate reads If-Match from a file of headers', () => {
    writeFileSync(headers, 'Accept: */*\r\nIf-Match: "1"\r\n\r\nif-match:"2"');
    for (const option of [`-H @${headers}`, `-H@${headers}`, `--header @${headers}`]) {
      expect(callOf(`curl ${address}/1 ${option} -H 'If-Match: "3"'`)).toMatchObject({
        ifMatch: '"1", "2", "3"',
      });
    }
  });

  test('pms translate refuses a curl command whose file of headers cannot be read', () => {
    expect(() => curlCalls(`curl ${address} -H @${folder}/nowhere`)).toThrow(
      'Cannot read the headers of the curl line: ENOENT',
    );
  });

  test('pms translate refuses a curl command that reads its headers from a pipe', () => {
    expect(() => curlCalls(`curl -H @- ${address}`)).toThrow(
      'The curl line reads its headers from the standard input: write the headers into the line instead',
    );
  });
});

test('pms translate refuses a curl command that has the option --url more than once', () => {
  expect(() => curlCalls(`curl --url ${address} --url ${address}/status`)).toThrow(
    'must have exactly one address, not 2',
  );
});

test.each([
  `curl ${address}/1; curl ${address}/2`,
  `curl ${address}/1 && curl ${address}/2 || echo curl failed`,
  `cd /tmp && curl ${address}/1 | jq .id | grep curl; X=1 curl ${address}/2 & wait`,
  `(curl ${address}/1)\nID=$(curl ${address}/2 | jq .id)`,
  `command -v curl >/dev/null || exit 1\ncurl ${address}/1\ntimeout 5 curl ${address}/2`,
])('pms translate finds all curl commands of %j', (script) => {
  expect(curlCalls(script).map(({ path }) => path)).toEqual(['/api/locations/1', '/api/locations/2']);
});

test.each([
  `curl ${address} > out.json -d a=1`,
  `curl ${address} 2>&1 >>'out file' \\\n  -d a=1 | cat`,
  `curl ${address} 2>/dev/null -d a=1`,
  `curl ${address} &>/dev/null -d a=1`,
  `curl ${address} -d a=1 <<< text`,
])('pms translate reads the options after a redirection: %j', (line) => {
  expect(callOf(line)).toMatchObject({ method: 'POST', body: 'a=1', path: '/api/locations' });
});

test('pms translate refuses an escape sequence of a character that does not exist', () => {
  expect(() => curlCalls(String.raw`curl ${address} -d $'\U110000'`)).toThrow(
    String.raw`The number after \U in a text between $' and ' must be at most 10FFFF`,
  );
  expect(callOf(String.raw`curl ${address} -d $'\U10FFFF'`)).toMatchObject({ body: '\u{10ffff}' });
});

test('pms translate refuses a curl command that reads its body from a pipe', () => {
  expect(() => curlCalls(`echo '{}' | curl -d @- ${address}`)).toThrow(
    'reads its body from the standard input',
  );
});
