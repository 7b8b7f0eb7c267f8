import { Writable } from 'node:stream';
import { afterAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { createLog, terminalMessage } from '../../src/observability/log.ts';
import { sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const { prisma, sql } = gateway.database;

/** A value that a client sends and that the log must not contain. */
const secretText = 'pms_live_secret-of-a-client';
const plateNumber = '7654321';

/** Creates a log that collects its output as a text, so that the test can read the output. */
function readableLog() {
  let text = '';
  const destination = new Writable({
    write(chunk: Buffer, _, done) {
      text += chunk.toString();
      done();
    },
  });
  afterAll(() => void destination.destroy());
  return { log: createLog('info', destination), text: () => text };
}

const plate = { plateType: 'DXB', plateCode: secretText, plateNumber };
const entry = (locationId: string) => ({ id: newId(), locationId, referenceId: secretText, ...plate });

/** Database calls that fail because the database or Prisma refuses a value in the call. */
const refusals: [string, (locationId: string) => Promise<unknown>][] = [
  [
    'a statement with a wrong value',
    () => sql.query({ name: '', text: 'SELECT $1::int, $2::text' }, [secretText, plateNumber]),
  ],
  [
    'a statement with JSON that cannot be read',
    () => sql.query({ name: '', text: 'SELECT $1::jsonb, $2::text' }, [`{"${secretText}`, plateNumber]),
  ],
  [
    'a row that violates a constraint',
    async (locationId) => {
      const { referenceId, ...ofEntry } = entry(locationId);
      const insert = () =>
        sql.query(
          {
            name: '',
            text: `INSERT INTO "WhitelistEntry" (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber")
              VALUES ($1, $2, $3, $4, $5, $6)`,
          },
          [newId(), locationId, referenceId, ofEntry.plateType, ofEntry.plateCode, ofEntry.plateNumber],
        );
      await insert();
      await insert();
    },
  ],
  [
    'a duplicate that Prisma writes',
    async (locationId) => {
      await prisma.whitelistEntry.create({ data: entry(locationId) });
      await prisma.whitelistEntry.create({ data: entry(locationId) });
    },
  ],
  [
    'a raw query of Prisma',
    () => prisma.$queryRawUnsafe('SELECT $1::text::int, $2::text', secretText, plateNumber),
  ],
  [
    'an argument that Prisma does not know',
    () =>
      prisma.whitelistEntry.findMany({
        where: { plateNumber, note: { unknown: secretText } as unknown as string },
      }),
  ],
];

describe('log lines of database errors', () => {
  test.each(refusals)(
    'the log of a database error contains no value that a client sent: %s',
    async (_, refuse) => {
      const { locationId } = await gateway.newTenant();
      const error: unknown = await refuse(locationId).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(Error);
      const { log, text } = readableLog();
      log.child({ requestId: 'r' }).error({ err: new Error('outer', { cause: error }) }, 'failed');
      const { err } = JSON.parse(text());
      expect(err.cause).toMatchObject({ message: expect.stringMatching(/./), stack: expect.any(String) });
      expect(text()).not.toContain(secretText);
      expect(text()).not.toContain(plateNumber);
    },
  );
});

describe('format of log lines about requests on a terminal', () => {
  const line = {
    msg: 'request',
    requestId: 'id',
    surface: 'rest',
    operation: 'GET /locations/{locationId}/residents/{residentId}/vehicles',
    status: 429,
    errorCode: 'RATE_LIMIT_EXCEEDED',
    durationMs: 12.34,
  };

  test.each([60, 80, 100, 120])(
    'a log line about a request fits a terminal that is %i columns wide',
    (columns) => {
      const text = `[12:00:00] INFO: ${terminalMessage(line, columns)}`;
      expect(text.length).toBeLessThanOrEqual(columns);
      expect(text).toContain('429 RATE_LIMIT_EXCEEDED 12.34 ms');
    },
  );

  test('a log line contains the path of a request when the operation of the request is unknown', () => {
    const unknown = {
      ...line,
      operation: 'unknown',
      path: '/api/nothing',
      status: 404,
      errorCode: 'NOT_FOUND',
    };
    expect(terminalMessage(unknown, 80)).toBe('/api/nothing 404 NOT_FOUND 12.34 ms');
  });

  test('a log line on the terminal contains the id of its request', () => {
    expect(terminalMessage({ msg: 'unexpected error', requestId: 'r-1' }, 80)).toBe(
      'unexpected error (request r-1)',
    );
  });
});
