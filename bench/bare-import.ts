import type { Sql } from '../src/database/types.ts';
import { newId } from '../src/ids.ts';
import { bulkLocations, locationId } from './world.ts';

// This file imports rows with plain SQL statements, which go directly to the database and not through the gateway.

/** The id of the location whose whitelist the benchmark's imports change. */
export const importTarget = locationId(bulkLocations.import);

/** The maximum number of rows that one import request, or one plain SQL statement, writes in the benchmark. */
const rowsAtOnce = 10_000;

/** A row of a whitelist import; the benchmark measures the speed of this import. */
export interface ImportedRow {
  referenceId: string;
  plateType: string;
  plateCode: string;
  plateNumber: string;
  vehicleType: string;
  note?: string;
}

/** The import mode that the benchmark measures. */
export type Mode = 'CREATE' | 'UPSERT' | 'REPLACE';

const columns = ['referenceId', 'plateType', 'plateCode', 'plateNumber', 'vehicleType', 'note'] as const;
const plateColumns = '"plateType", "plateCode", "plateNumber"';
/**
 * An SQL statement that inserts whitelist entries. The SQL parameter `$1` is the id of the location. Each of the SQL
 * parameters `$2` to `$8` is an array with the values of one column of the table `WhitelistEntry`.
 */
const insert = `INSERT INTO "WhitelistEntry" ("locationId", id, "referenceId", ${plateColumns}, "vehicleType", note)
  SELECT $1::text, * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])`;
const upsert = `${insert} ON CONFLICT ("locationId", ${plateColumns})
  DO UPDATE SET "vehicleType" = EXCLUDED."vehicleType", note = EXCLUDED.note`;

/**
 * Maps each import mode to the plain SQL statement that writes the imported rows directly to the database. The
 * benchmark compares the speed of an import through the gateway with the speed of the plain SQL statement for the same
 * import mode.
 */
const bareStatements: Record<Mode, string> = {
  CREATE: `${insert} ON CONFLICT DO NOTHING`,
  UPSERT: upsert,
  REPLACE: `WITH removed AS (
    DELETE FROM "WhitelistEntry" WHERE "locationId" = $1
      AND (${plateColumns}) NOT IN (SELECT * FROM unnest($4::text[], $5::text[], $6::text[]))
  ) ${upsert}`,
};

/**
 * Writes the rows of an import with plain SQL statements. Each SQL statement writes as many rows as one import request
 * of the benchmark contains.
 */
export async function writeBare(sql: Sql, mode: Mode, written: readonly ImportedRow[]): Promise<void> {
  for (let first = 0; first < written.length; first += rowsAtOnce) {
    const part = written.slice(first, first + rowsAtOnce);
    await sql.query({ name: `bench-${mode}`, text: bareStatements[mode] }, [
      importTarget,
      part.map(() => newId()),
      ...columns.map((column) => part.map((row) => row[column] ?? null)),
    ]);
  }
}
