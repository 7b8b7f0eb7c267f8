import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { entryColumns } from '../../cli/whitelist-csv.ts';
import { openCommandLine } from '../support/command-line.ts';
import { projectFolder } from '../support/documentation.ts';
import { endWithThisProcess } from '../support/guards.ts';
import { newEntry, sharedTestGateway, serve } from '../support/harness.ts';
import { forwardGraph, startHttpServer } from '../support/http-server.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;
const url = await serve(gateway);
const { pms, pmsWithInput, json, fileOf, folder } = openCommandLine(url);

const header = entryColumns.join(',');
const row = ({ referenceId, plateType, plateCode, plateNumber } = newEntry()) =>
  `${referenceId},${plateType},${plateCode},${plateNumber},,,,,,`;
const csvOf = (...rows: string[]) => fileOf([header, ...rows, ''].join('\n'));
const countEntries = (locationId: string) => prisma.whitelistEntry.count({ where: { locationId } });

/**
 * Starts a proxy between pms and the gateway. The proxy counts the requests whose body contains the text `held`. When
 * this count reaches `heldFrom`, the proxy delays this request and every later counted request until the test calls
 * `answer`. The proxy forwards a request at once if the body of the request does not contain the text `held`.
 */
async function startSlowGateway(key: string, heldFrom: number, { held: text = 'mutation' } = {}) {
  const held: (() => void)[] = [];
  let requests = 0;
  const address = await startHttpServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    if (body.includes(text)) requests += 1;
    if (body.includes(text) && requests >= heldFrom) await new Promise<void>((resolve) => held.push(resolve));
    await forwardGraph({ url, key, body }, response);
  });
  return {
    address,
    /** The number of requests that the proxy has received but not yet forwarded. */
    waiting: () => held.length,
    answer: () => held.splice(0).forEach((resolve) => resolve()),
  };
}

/** Runs pms in a separate process. */
function start(address: string, key: string, args: string[]) {
  const child = spawn(process.execPath, ['dist/pms.js', ...args], {
    cwd: projectFolder,
    env: { ...process.env, PMS_URL: address, PMS_API_KEY: key },
  });
  endWithThisProcess(child);
  onTestFinished(() => void child.kill('SIGKILL'));
  const started = {
    child,
    out: '',
    err: '',
    ended: once(child, 'close').then(([code, signal]: unknown[]) => ({ code, signal })),
  };
  child.stdout.on('data', (chunk) => (started.out += chunk));
  child.stderr.on('data', (chunk) => (started.err += chunk));
  return started;
}

/** Runs the command that an interrupted import printed, so that pms imports the remaining rows. */
async function continueAsSaid(said: string, key: string) {
  const [, command] = /^To continue.*:\n {2}pms (.+)$/m.exec(said)!;
  const { stdout } = await promisify(execFile)('bash', ['-c', `node dist/pms.js --json ${command}`], {
    cwd: projectFolder,
    env: { ...process.env, PMS_URL: url, PMS_API_KEY: key },
  });
  return JSON.parse(stdout);
}

describe('Ctrl-C during an import by pms', () => {
  test('after Ctrl-C, pms import finishes its current batch of rows, and prints a command that imports the remaining rows', async () => {
    const { key, locationId } = await gateway.newTenant();
    const file = csvOf(row(), row(newEntry({ plateCode: 'ABCD' })), row(), row(), row());
    const slow = await startSlowGateway(key, 2);
    const importing = start(slow.address, key, [
      'import',
      ...[file, '--location', locationId, '--batch-size', '2'],
    ]);
    await expect.poll(slow.waiting).toBe(1);
    importing.child.kill('SIGINT');
    await expect
      .poll(() => importing.err)
      .toContain('Waiting for the answer to lines 4 to 5. A second Ctrl-C');
    slow.answer();
    expect(await importing.ended).toEqual({ code: 130, signal: null });
    expect(importing.out).toBe('');
    const rejects = `${file}.rejected.csv`;
    const [, last = ''] = importing.err.split('Interrupted. ');
    expect(last).toBe(
      `Up to line 5, 3 rows are imported, 1 rejected.\nRejected rows, and why: ${rejects}\nTo continue:\n` +
        `  pms import ${file} --location ${locationId} --batch-size 2 --after-line 5 ` +
        `--rejects ${rejects.replace('.csv.rejected.csv', '.csv.rejected.after-5.csv')}\n`,
    );
    expect(readFileSync(rejects, 'utf8')).toContain('ABCD');
    expect(await countEntries(locationId)).toBe(3);
    expect(await continueAsSaid(last, key)).toMatchObject({ created: 1, rejected: 0 });
    expect(await countEntries(locationId)).toBe(4);
  });

  test('after Ctrl-C, pms import finishes its current batch of rows even if no program reads its messages', async () => {
    const { key, locationId } = await gateway.newTenant();
    const file = csvOf(row(), row(newEntry({ plateCode: 'ABCD' })), row());
    const slow = await startSlowGateway(key, 1);
    const importing = start(slow.address, key, [
      'import',
      ...[file, '--location', locationId, '--batch-size', '2'],
    ]);
    await expect.poll(slow.waiting).toBe(1);
    importing.child.stderr.destroy();
    importing.child.kill('SIGINT');
    const exitCode = () => {
      slow.answer();
      return importing.child.exitCode;
    };
    await expect.poll(exitCode).toBe(130);
    expect(readFileSync(`${file}.rejected.csv`, 'utf8')).toContain('ABCD');
    expect(await countEntries(locationId)).toBe(1);
  });

  test('when the user presses Ctrl-C while pms import waits because of the rate limit, pms prints a command that continues the import', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const key = await gateway.newKey({ companyIds: [companyId], burstLimit: 2 });
    const file = csvOf(row(), row(), row(), row());
    const args = ['import', file, '--location', locationId, '--mode', 'upsert', '--batch-size', '1'];
    const importing = start(url, key, args);
    await expect.poll(() => importing.err).toContain('rate limit of the key is reached');
    importing.child.kill('SIGINT');
    expect(await importing.ended).toEqual({ code: 130, signal: null });
    expect(importing.err).not.toContain('Waiting for the answer');
    expect(importing.err).toContain(
      `Interrupted. Up to line 3, 2 rows are imported, 0 rejected.\nTo continue:\n  pms ${args.join(' ')}\n`,
    );
    const fast = await gateway.newKey({ companyIds: [companyId] });
    expect(await continueAsSaid(importing.err, fast)).toMatchObject({ created: 2, unchanged: 2 });
  });

  test('Ctrl-C does not interrupt pms import when the last rows of the file are already sent', async () => {
    const { key, locationId } = await gateway.newTenant();
    const slow = await startSlowGateway(key, 1);
    const file = csvOf(row(), row());
    const importing = start(slow.address, key, ['--json', 'import', file, '--location', locationId]);
    await expect.poll(slow.waiting).toBe(1);
    importing.child.kill('SIGINT');
    await expect.poll(() => importing.err).toContain('Waiting for the answer to lines 2 to 3.');
    slow.answer();
    expect(await importing.ended).toEqual({ code: 0, signal: null });
    expect(JSON.parse(importing.out)).toMatchObject({ created: 2 });
  });

  test('a second Ctrl-C ends pms import at once', async () => {
    const { key, locationId } = await gateway.newTenant();
    const slow = await startSlowGateway(key, 1);
    const importing = start(slow.address, key, ['import', csvOf(row()), '--location', locationId]);
    await expect.poll(slow.waiting).toBe(1);
    importing.child.kill('SIGINT');
    await expect.poll(() => importing.err).toMatch(/Waiting for the answer[^]*To continue:\n {2}pms import/);
    importing.child.kill('SIGINT');
    expect(await importing.ended).toEqual({ code: null, signal: 'SIGINT' });
  });

  test('Ctrl-C ends pms import while its standard input is still open', async () => {
    const { key, locationId } = await gateway.newTenant();
    const importing = start(url, key, ['import', '-', '--location', locationId, '--batch-size', '2']);
    importing.child.stdin.write([header, row(), row(), row(), ''].join('\n'));
    await expect.poll(() => countEntries(locationId)).toBe(2);
    // After Ctrl-C, pms waits for the response to the first batch of rows before it exits.
    importing.child.kill('SIGINT');
    expect(await importing.ended).toEqual({ code: 130, signal: null });
    expect(importing.err).toContain('Interrupted. Up to line 3, 2 rows are imported, 0 rejected.');
    expect(importing.err).toMatch(/To continue, with the same input:\n {2}pms import - .* --after-line 3\n$/);
  });

  test('after Ctrl-C during a dry run, pms import says that nothing changed', async () => {
    const { key, locationId } = await gateway.newTenant();
    const slow = await startSlowGateway(key, 1);
    const args = ['import', csvOf(row(), row()), '--location', locationId, '--dry-run', '--batch-size', '1'];
    const importing = start(slow.address, key, args);
    await expect.poll(slow.waiting).toBe(1);
    importing.child.kill('SIGINT');
    await expect.poll(() => importing.err).toContain('Waiting for');
    slow.answer();
    expect(await importing.ended).toMatchObject({ code: 130 });
    expect(importing.err).toContain('1 rows are checked (a dry run: nothing was changed), 0 rejected.');
    expect(await countEntries(locationId)).toBe(0);
  });

  test('after Ctrl-C during an import of parking events or quotas, pms tells the user to repeat the whole import', async () => {
    const { key, locationId } = await gateway.newTenant();
    const events = Array.from({ length: 1_200 }, (_, index) => ({
      eventId: `gate-${index}`,
      kind: 'ENTRY',
      plate: { plateType: 'DXB', plateCode: 'A', plateNumber: String(index) },
      occurredAt: new Date(Date.UTC(2026, 0, 31, 8, 0, index)).toISOString(),
    }));
    const quotas = Array.from({ length: 1_200 }, (_, index) => `unit-${index},1,`);
    for (const [noun, done, lines, text, rest] of [
      [
        'events',
        'recorded',
        '1 to 1000',
        events.map((event) => JSON.stringify(event)).join('\n'),
        { recorded: 200, unchanged: 1_000 },
      ],
      [
        'quotas',
        'set',
        '2 to 1001',
        ['referenceId,inside,enforcement', ...quotas].join('\n'),
        { quotas: 1_200 },
      ],
    ] as const) {
      const slow = await startSlowGateway(key, 1);
      const args = [noun, 'import', fileOf(text), '--location', locationId];
      const importing = start(slow.address, key, args);
      await expect.poll(slow.waiting).toBe(1);
      importing.child.kill('SIGINT');
      await expect.poll(() => importing.err).toContain(`Waiting for the answer to lines ${lines}.`);
      slow.answer();
      expect(await importing.ended).toEqual({ code: 130, signal: null });
      expect(importing.err).toMatch(new RegExp(`Interrupted\\. Up to line \\d+, 1000 ${noun} are ${done}`));
      expect(importing.err).toContain(`To continue:\n  pms ${args.join(' ')}\n`);
      expect(await continueAsSaid(importing.err, key)).toMatchObject(rest);
    }
  });
});

test('when the answer to a request is lost, pms import says that it cannot tell whether the rows are imported', async () => {
  const { key, locationId } = await gateway.newTenant();
  let imports = 0;
  const losing = await startHttpServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    imports += 1;
    if (imports !== 2) return forwardGraph({ url, key, body }, response);
    const headers = { 'Content-Type': 'application/json', 'X-API-Key': key };
    await fetch(`${url}/graphql`, { method: 'POST', headers, body });
    request.socket.destroy();
  });
  const file = csvOf(row(), row());
  const args = ['import', file, '--location', locationId, '--batch-size', '1'];
  for (const [lost, known] of [
    ['line 3', 'Up to line 2, 1 rows are imported, 0 rejected.'],
    ['line 2', 'No earlier rows are imported.'],
  ]) {
    const { code, err } = await pms(key, '--url', losing, ...args);
    expect(code).toBe(1);
    expect(err).toContain(
      `This failed for ${lost}. pms cannot tell whether the rows in this request are imported. Nothing after it was sent. ${known}`,
    );
    imports = 1;
  }
  expect(await countEntries(locationId)).toBe(2);
});

/**
 * Imitates a standard input that cannot be read because of a broken disk: throws an error before it yields any text.
 */
async function* brokenInput(): AsyncGenerator<string> {
  throw new Error('the disk failed');
}

describe('an import by pms whose input is invalid or cannot be read', () => {
  // The input has 300,000 empty lines between the first rows and the last rows. pms reads the input in several chunks,
  // and sends the first rows before pms reads the last rows.
  const emptyLines = 300_000;
  const gap = '\n'.repeat(emptyLines);

  test('when a row after the first batch of rows has too few fields, pms import prints the number of imported rows, and the command that continues the import', async () => {
    const { key, locationId } = await gateway.newTenant();
    const correct = [header, row(), row(newEntry({ plateCode: 'ABCD' })), `${gap}${row()}`, ''].join('\n');
    const file = fileOf(`${correct}a,b\n`);
    const args = ['import', file, '--location', locationId, '--batch-size', '2'];
    const { code, out, err } = await pms(key, ...args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    const rejects = `${file}.rejected.csv`;
    expect(err).toMatch(new RegExp(`^Line ${emptyLines + 5}: .+\n`));
    expect(err.slice(err.indexOf('\n') + 1)).toBe(
      'Nothing after line 3 was sent. Correct the input before you continue. ' +
        `Up to line 3, 1 rows are imported, 1 rejected.\nRejected rows, and why: ${rejects}\nTo continue:\n` +
        `  pms ${args.join(' ')} --after-line 3 ` +
        `--rejects ${rejects.replace('.csv.rejected.csv', '.csv.rejected.after-3.csv')}\n`,
    );
    expect(readFileSync(rejects, 'utf8')).toContain('ABCD');
    expect(await countEntries(locationId)).toBe(1);
    writeFileSync(file, correct);
    expect(await continueAsSaid(err, key)).toMatchObject({ created: 1, rejected: 0 });
    expect(await countEntries(locationId)).toBe(2);
  });

  test('pms import exits with code 2 when it finds an invalid line before it has sent any row', async () => {
    const { key, locationId } = await gateway.newTenant();
    const location = ['--location', locationId, '--batch-size', '1'];
    const first = await pms(key, 'import', fileOf(`${header}\n${gap}a,b\n`), ...location);
    expect(first).toMatchObject({ code: 2, err: expect.not.stringContaining('To continue') });
    const rejected = row().replace(/,,,,,,$/, ',,,,tomorrow,,');
    const second = await pms(key, 'import', fileOf(`${header}\n${rejected}\n${gap}a,b\n`), ...location);
    expect(second).toMatchObject({
      code: 2,
      err: expect.stringContaining('0 rows are imported, 1 rejected'),
    });
    expect(await countEntries(locationId)).toBe(0);
  });

  test('when the standard input fails after 1,000 parking events, pms events import prints how many events are recorded', async () => {
    const { key, locationId } = await gateway.newTenant();
    const count = () => prisma.parkingEvent.count({ where: { locationId } });
    async function* failingInput() {
      for (let index = 0; index < 1_000; index += 1) {
        const plate = { plateType: 'DXB', plateCode: 'A', plateNumber: String(index) };
        const occurredAt = new Date(Date.UTC(2026, 0, 31, 8, 0, index)).toISOString();
        yield `${JSON.stringify({ eventId: `gate-${index}`, kind: 'ENTRY', plate, occurredAt })}\n`;
      }
      await expect.poll(count).toBe(1_000);
      throw new Error('the disk failed');
    }
    const args = ['events', 'import', '-', '--location', locationId];
    const { code, out, err } = await pmsWithInput(failingInput(), key, ...args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe(
      'Cannot read the standard input: the disk failed\n' +
        'Nothing after line 1000 was sent. Correct the input before you continue. ' +
        'Up to line 1000, 1000 events are recorded, 0 rejected.\n' +
        `To continue, with the same input:\n  pms ${args.join(' ')}\n`,
    );
    const unread = await pmsWithInput(brokenInput(), key, ...args);
    expect(unread).toEqual({ code: 2, out: '', err: 'Cannot read the standard input: the disk failed\n' });
  });

  test('when the gateway refuses a batch of rows, pms import exits even though its standard input is still open', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const reader = await gateway.newKey({ companyIds: [companyId], permissions: ['READ_WHITELIST'] });
    const importing = start(url, reader, ['import', '-', '--location', locationId, '--batch-size', '1']);
    importing.child.stdin.write([header, row(), row(), ''].join('\n'));
    await expect.poll(() => importing.err).toContain('FORBIDDEN');
    await expect.poll(() => importing.child.exitCode).toBe(1);
  });

  test('pms quotas import sends nothing when the last line of a long file is invalid', async () => {
    const { key, locationId } = await gateway.newTenant();
    const lines = Array.from({ length: 1_200 }, (_, index) => `unit-${index},1,`);
    const file = fileOf(['referenceId,inside,enforcement', ...lines, `${gap}unit-x`].join('\n'));
    const { code, err } = await pms(key, 'quotas', 'import', file, '--location', locationId);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/^Line \d+: .+\n$/) });
    expect(await json(key, 'quotas', 'list', '--location', locationId)).toEqual([]);
  });
});

test('pms import --after-line 2 skips the first two lines of the file, and pms refuses --after-line together with --mode replace', async () => {
  const { key, locationId } = await gateway.newTenant();
  const twice = newEntry();
  const file = csvOf(row(twice), row(), row(twice), row());
  const at = ['--location', locationId, '--after-line', '2'];
  await json(key, 'import', csvOf(row(twice)), '--location', locationId);
  const { code, out } = await pms(key, '--json', 'import', file, ...at);
  expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 3, created: 2, rejected: 1 });
  expect(await pms(key, 'import', file, ...at, '--mode', 'replace')).toMatchObject({
    code: 2,
    err: '--mode replace imports the whole file: omit --after-line\n',
  });
});

test('when the gateway has rejected a row, the continued import still imports a later, correct row with the plate of the rejected row', async () => {
  const { key, locationId } = await gateway.newTenant();
  const entry = newEntry();
  const wrong = { ...entry, referenceId: ' ' };
  const correct = [header, row(wrong), row(), row(entry), ''].join('\n');
  const file = fileOf(`${correct}a,b\n`);
  const stopped = await pms(key, 'import', file, '--location', locationId, '--batch-size', '2');
  expect(stopped.err).toContain('Up to line 3, 1 rows are imported, 1 rejected');
  writeFileSync(file, correct);
  expect(await continueAsSaid(stopped.err, key)).toMatchObject({ created: 1, rejected: 0 });
});

test('Ctrl-C during pms export or pms sync keeps the previous file and leaves no partial file', async () => {
  const { key, locationId } = await gateway.newTenant();
  for (const command of ['export', 'sync']) {
    const name = `${command}-of-before`;
    const path = join(folder, name);
    expect((await pms(key, command, '--location', locationId, '--output', path)).code).toBe(0);
    const before = readFileSync(path, 'utf8');
    const slow = await startSlowGateway(key, 1, { held: 'whitelistChanges' });
    const running = start(slow.address, key, [command, '--location', locationId, '--output', path]);
    await expect.poll(slow.waiting).toBe(1);
    running.child.kill('SIGINT');
    expect(await running.ended).toEqual({ code: null, signal: 'SIGINT' });
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(readdirSync(folder).filter((file) => file.startsWith(name))).toEqual([name]);
  }
});
