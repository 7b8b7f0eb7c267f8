import { print } from 'graphql';
import { expect, test } from 'vitest';
import { ImportEntriesDocument, type WhitelistEntryInput } from '../../cli/generated/operations.ts';
import { createRequestSize, longTextRejection } from '../../cli/request-size.ts';
import { type CsvRow, readRows, rowsOfRequest } from '../../pages/console/csv.ts';
import { createStructureCheck } from '../../src/http/bodies/json.ts';
import { serve, sharedTestGateway } from '../support/harness.ts';

// The command line and the console are clients of the gateway, so their code may not import the limits from the code of
// the gateway (.dependency-cruiser.js). The tests in this file compare the limits in the code of the command line and
// the console with the limits of the gateway.

const gateway = await sharedTestGateway();
const url = await serve(gateway);

/**
 * Finds the largest number for which the function `accepts` returns true. If `accepts` returns true for a number, it
 * must also return true for every number below it.
 */
function largestAccepted(accepts: (number: number) => boolean): number {
  let [accepted, refused] = [0, 1_000_000];
  while (refused - accepted > 1) {
    const middle = Math.floor((accepted + refused) / 2);
    if (accepts(middle)) accepted = middle;
    else refused = middle;
  }
  return accepted;
}

/** Whether the structure of a JSON value is within the limits of the gateway. */
const isBounded = (value: unknown) => createStructureCheck()(JSON.stringify(value)) === undefined;

/** Whether the size of the given rows is within the limit for one import request of the command `pms`. */
function fitInRequest(rows: readonly unknown[]): boolean {
  const size = createRequestSize();
  return rows.every((row) => size.add(row));
}

/** Returns the body of a request that imports rows into a whitelist. */
const importOf = (entries: readonly unknown[], locationId = '1') => ({
  query: print(ImportEntriesDocument),
  variables: { locationId, entries, mode: 'CREATE', dryRun: true },
});

test.each(['x', '"', 'م'])(
  'the command line and the console accept the same texts of the character %s as the gateway',
  (character) => {
    const accepted = largestAccepted((length) => isBounded(character.repeat(length)));
    expect(accepted).toBeGreaterThan(1_000);
    const isAcceptedByConsole = (note: string) => {
      const quoted = `"${note.replaceAll('"', '""')}"`;
      const file = `referenceId,plateType,plateCode,plateNumber,note\n1,DXB,A,1,${quoted}`;
      return readRows(Buffer.from(file))[0]!.fault === undefined;
    };
    for (const isAccepted of [
      (note: string) => longTextRejection({ note }) === undefined,
      isAcceptedByConsole,
    ]) {
      expect(largestAccepted((length) => isAccepted(character.repeat(length)))).toBe(accepted);
    }
  },
);

test.each([
  ['rows without fields', {}],
  ['rows with empty hours', { referenceId: '1', hours: [] }],
  [
    'rows with hours',
    { referenceId: null, hours: [{ days: ['MONDAY', 'SUNDAY'], from: '07:00', to: '19:00' }] },
  ],
])(
  'the gateway accepts the largest number of values that the command line sends in one request: %s',
  (_, row) => {
    const rowsOf = (count: number) => Array.from({ length: count }, () => row);
    const sent = largestAccepted((count) => fitInRequest(rowsOf(count)));
    const body = importOf(rowsOf(sent));
    expect(isBounded(body)).toBe(true);
    // With too few rows in each request, an import would need more requests than necessary. This test therefore checks
    // that 1 percent more rows are too many.
    expect(isBounded(importOf(rowsOf(Math.ceil(sent * 1.01))))).toBe(false);
  },
);

test('the gateway accepts an import of 10,000 rows with all fields and two weekly time spans in each row', () => {
  const from = '07:00';
  const to = '19:00';
  const row: Record<keyof WhitelistEntryInput, unknown> = {
    ...{ referenceId: '1', plateType: 'DXB', plateCode: 'A', plateNumber: '1', vehicleType: 'suv', note: '' },
    ...{ validFrom: '2026-01-01T00:00:00Z', validUntil: '2027-01-01T00:00:00Z', maxEntries: 1 },
    hours: [
      { days: ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY'], from, to },
      { days: ['SATURDAY', 'SUNDAY'], from, to },
    ],
  };
  expect(isBounded(importOf(Array.from({ length: 10_000 }, () => row)))).toBe(true);
});

/** Returns the rows that the command line sends in its first request. */
function rowsOfCommand(rows: readonly CsvRow[]): readonly CsvRow[] {
  const size = createRequestSize();
  return rows.slice(
    0,
    rows.findIndex(({ entry }) => !size.add(entry)),
  );
}

test.each([
  ['the command line', rowsOfCommand],
  ['the console', (rows: readonly CsvRow[]) => rowsOfRequest(rows, 0)],
])('the gateway accepts the largest number of bytes that %s sends in one request', async (_, rowsToSend) => {
  const { key, locationId } = await gateway.newTenant();
  const note = 'م'.repeat(16_000);
  const [row] = readRows(
    Buffer.from(`referenceId,plateType,plateCode,plateNumber,note\n1,DXB,A,1,${note}\n`),
  );
  const rows = Array.from({ length: 600 }, () => row!);
  const sent = rowsToSend(rows).length;
  const send = async (count: number) => {
    const entries = rows.slice(0, count).map(({ entry }) => entry);
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body: JSON.stringify(importOf(entries, locationId)),
    });
    return { status: response.status, body: await response.json() };
  };
  const { status, body } = await send(sent);
  expect({ status, rejected: body.data?.importWhitelistEntries.rejected }).toEqual({
    status: 200,
    rejected: sent,
  });
  // With too few rows in each request, an import would need more requests than necessary. This test therefore checks
  // that 10 percent more rows are too many.
  expect((await send(Math.ceil(sent * 1.1))).status).toBe(413);
});
