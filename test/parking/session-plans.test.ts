import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { readObservations, readSessions } from '../../src/parking/session-statements.ts';
import { openTestGateway } from '../support/harness.ts';
import { nodesOf, type PlanNode } from '../support/query-plans.ts';
import { testServerUrl } from '../support/scratch-database.ts';

// The tests in this file use their own gateway, because the rows that other tests write could change the query plans.
const { database, newTenant } = await openTestGateway();

const [enteredAt, exitedAt] = [new Date('2026-03-01T08:00:00Z'), new Date('2026-03-01T08:09:00Z')];
const plateNumbers = Array.from({ length: 2_000 }, (_, index) => String(10_000 + index));

describe.runIf(!testServerUrl)('the query plans of the embedded database for parking sessions', () => {
  test.each([readSessions, readObservations])(
    'the statement $name finds the sessions and events of ten plates by the last characters of these plates, and does not read all rows of the location',
    async (statement) => {
      const { locationId } = await newTenant();
      const rows = plateNumbers.map((plateNumber) => {
        const plate = { plateType: 'DXB', plateCode: 'A', plateNumber };
        return { id: newId(), locationId, ...plate, listed: false };
      });
      await database.prisma.parkingEvent.createMany({
        data: rows.map((row) => ({ ...row, eventId: row.id, kind: 'ENTRY', occurredAt: enteredAt })),
      });
      await database.prisma.parkingSession.createMany({
        data: rows.map((row) => ({ ...row, enteredAt, exitedAt, endedAt: exitedAt, open: false })),
      });
      const changed = plateNumbers.slice(0, 10);
      const [row] = await database.sql.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        { name: '', text: `EXPLAIN (FORMAT JSON) ${statement.text}` },
        statement.values({
          locationId,
          plateCode: changed.map(() => 'A'),
          plateNumber: changed,
          text: changed.map(() => null),
          occurredAt: changed.map(() => enteredAt),
          wholeFamily: changed.map(() => false),
        }),
      );
      const scans = nodesOf(row!['QUERY PLAN'][0].Plan);
      const isSequential = (scan: PlanNode) =>
        scan['Node Type'] === 'Seq Scan' && scan['Relation Name']?.startsWith('Parking');
      expect(scans.filter(isSequential)).toEqual([]);
      const conditions = scans.flatMap((scan) =>
        scan['Index Name']?.startsWith('parking_') ? scan['Index Cond'] : [],
      );
      expect(conditions.length).toBeGreaterThan(0);
      for (const condition of conditions) expect(condition).toContain('"plateNumber"');
    },
  );
});
