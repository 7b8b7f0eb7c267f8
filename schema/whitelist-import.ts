import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { Context } from '../src/context.ts';
import { type ErrorCode, locationNotFound, type ServiceError } from '../src/errors.ts';
import { isId } from '../src/ids.ts';
import { validationError } from '../src/validation.ts';
import { type MergeMode, mergeWhitelist } from '../src/whitelist-merge.ts';
import type { Plate } from '../src/whitelist-reads.ts';
import type { WhitelistEntryValues } from '../src/whitelist-writes.ts';
import { builder } from './builder.ts';
import { findLocation } from './location.ts';
import {
  duplicateVehicle,
  entryValues,
  WhitelistEntry,
  WhitelistEntryInput,
  whitelistEntryRule,
} from './whitelist.ts';

/** The most rows of a call, and of a statement. */
const mostRows = 10_000;
const batchSize = 2_500;

/** How many rows are checked before other requests have their turn. */
const rowsAtOnce = 500;

/** The rows are checked one by one, so that a bad one does not keep the good ones out. */
const entriesRule = z
  .array(z.unknown())
  .min(1, 'At least one row is required')
  .max(mostRows, `At most ${mostRows} rows are allowed in one call`);

const ImportMode = builder.enumType('ImportMode', {
  description: 'How rows meet the entries that a location has. Entries are the same when their plates are.',
  values: {
    CREATE: { description: 'Only adds: a row whose plate the whitelist has is rejected.' },
    UPSERT: { description: 'Adds, and replaces the values of entries whose plate the whitelist has.' },
    REPLACE: {
      description:
        'Makes the whitelist equal to the rows, atomically: with one rejected row nothing changes.',
    },
  } as const,
});

const ImportOutcome = builder.enumType('ImportOutcome', {
  description: 'What became of a row.',
  values: {
    CREATED: { description: 'The row is a new entry.' },
    UPDATED: { description: 'The row replaced the values of an entry.' },
    UNCHANGED: { description: 'The whitelist had the row already, with the same values.' },
    REJECTED: { description: 'The row was not taken; its error says why.' },
  } as const,
});

/** What an error of the service says; the error itself would end the whole answer. */
type Fault = Pick<ServiceError, 'code' | 'message' | 'details'>;

interface RejectedRow {
  index: number;
  error: Fault;
  /** The plate that an entry has already, if that is why. */
  taken: (Plate & { locationId: string }) | null;
}

function rejectedRow(
  index: number,
  { code, message, details }: ServiceError,
  taken: RejectedRow['taken'] = null,
): RejectedRow {
  return { index, error: { code, message, details }, taken };
}

interface Import {
  total: number;
  created: number;
  updated: number;
  unchanged: number;
  deleted: number;
  rejected: RejectedRow[];
}

const ImportError = builder.objectRef<Fault>('ImportError').implement({
  description: 'Why a row was rejected, in the words that a single create would use.',
  fields: (t) => ({
    code: t.string({
      description: 'The code: `VALIDATION_ERROR` or `DUPLICATE_VEHICLE`.',
      resolve: ({ code }): ErrorCode => code,
    }),
    message: t.exposeString('message', { description: 'What is wrong.' }),
    field: t.string({
      nullable: true,
      description: 'The field that is wrong; null for a plate that is there already.',
      resolve: ({ details }) => details?.field,
    }),
    value: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The value that is wrong, as sent; null when missing.',
      resolve: ({ details }) => details?.value,
    }),
  }),
});

const ImportRow = builder.objectRef<RejectedRow>('ImportRow').implement({
  description: 'A row that did not simply succeed.',
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Place of the row in the call, counted from 0.' }),
    outcome: t.field({
      type: ImportOutcome,
      description: 'What became of the row.',
      resolve: () => 'REJECTED' as const,
    }),
    entry: t.field({
      type: WhitelistEntry,
      nullable: true,
      description: 'The entry that has the plate already, if that is why.',
      resolve: async ({ taken }, _, { whitelist }) =>
        taken && ((await whitelist.findPlate(taken))?.entry ?? null),
    }),
    error: t.field({
      type: ImportError,
      nullable: true,
      description: 'Why it was rejected.',
      resolve: ({ error }) => error,
    }),
  }),
});

const ImportResult = builder.objectRef<Import>('ImportResult').implement({
  description: 'What an import did, or would do as a dry run.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'Rows of the call.' }),
    created: t.exposeInt('created', { description: 'Rows that are new entries.' }),
    updated: t.exposeInt('updated', { description: 'Rows that changed an entry.' }),
    unchanged: t.exposeInt('unchanged', {
      description: 'Rows that the whitelist had already, value for value.',
    }),
    deleted: t.exposeInt('deleted', {
      description: 'Entries that REPLACE removed because no row has their plate.',
    }),
    rejected: t.int({ description: 'Rows that were not taken.', resolve: ({ rejected }) => rejected.length }),
    rows: t.field({
      type: [ImportRow],
      description: 'The rejected rows, in their order.',
      // Up to 10,000; a fraction, so that a whole report of each row still passes.
      complexity: { field: 1, multiplier: 1000 },
      resolve: ({ rejected }) => rejected,
    }),
  }),
});

interface GoodRow {
  index: number;
  values: WhitelistEntryValues;
}

/** Rows of a call, sorted into those that keep the rules and have a plate of their own, and the others. */
interface CheckedRows {
  good: GoodRow[];
  rejected: RejectedRow[];
}

/** Creates what checks the rows of a call, a part of them at a time. */
function createRowCheck(entries: readonly unknown[]) {
  const indexByPlate = new Map<string, number>();
  return async (start: number, end: number): Promise<CheckedRows> => {
    const good: GoodRow[] = [];
    const rejected: RejectedRow[] = [];
    for (let index = start; index < end; index += 1) {
      if (index % rowsAtOnce === rowsAtOnce - 1) await nextTurn();
      const entry = entries[index];
      const parsed = whitelistEntryRule.safeParse(entry);
      if (!parsed.success) {
        rejected.push(rejectedRow(index, validationError(parsed.error.issues, entry)));
        continue;
      }
      const values = entryValues(parsed.data);
      const plate = `${values.plateType} ${values.plateCode} ${values.plateNumber}`;
      const earlier = indexByPlate.get(plate);
      if (earlier === undefined) {
        indexByPlate.set(plate, index);
        good.push({ index, values });
      } else {
        rejected.push(rejectedRow(index, duplicateVehicle(values, `Row ${earlier} has the same plate`)));
      }
    }
    return { good, rejected };
  };
}

async function importRows(
  context: Context,
  locationId: string,
  entries: readonly unknown[],
  options: { mode: MergeMode; dryRun: boolean },
): Promise<Import> {
  const total = entries.length;
  const result: Import = { total, created: 0, updated: 0, unchanged: 0, deleted: 0, rejected: [] };
  const { rejected } = result;

  async function merge(part: CheckedRows): Promise<void> {
    rejected.push(...part.rejected);
    if (part.good.length === 0 || (options.mode === 'REPLACE' && rejected.length > 0)) return;
    const rows = part.good.map(({ values }) => values);
    const merged = await mergeWhitelist(context, context, locationId, rows, options);
    const created = merged.isNew.filter(Boolean).length;
    result.created += created;
    result.updated += merged.updated;
    result.deleted += merged.deleted;
    if (options.mode !== 'CREATE') {
      result.unchanged += rows.length - created - merged.updated;
      return;
    }
    for (const [position, { index, values }] of part.good.entries()) {
      if (!merged.isNew[position])
        rejected.push(rejectedRow(index, duplicateVehicle(values), { locationId, ...values }));
    }
  }

  const check = createRowCheck(entries);
  const size = options.mode === 'REPLACE' ? mostRows : batchSize;
  let part = await check(0, Math.min(size, total));
  for (let end = size; end < total; end += size) {
    // While the database merges one part, the next one is checked.
    [, part] = await Promise.all([merge(part), check(end, Math.min(end + size, total))]);
  }
  await merge(part);
  // When no row was taken, it may not be known yet whether there is such a location.
  if (result.created + result.updated + result.unchanged === 0) await findLocation(locationId, context);
  rejected.sort((a, b) => a.index - b.index);
  return result;
}

builder.mutationField('importWhitelistEntries', (t) =>
  t.field({
    type: ImportResult,
    permission: 'WRITE_WHITELIST',
    description:
      'Takes many vehicles at once. Rows that break a rule are reported and the others taken, except in REPLACE, which takes all or none. Each batch of 2,500 rows is one transaction; REPLACE is one as a whole.',
    args: {
      locationId: t.arg.id({ required: true, description: 'Identifier of the location.' }),
      entries: t.arg({
        type: [WhitelistEntryInput],
        required: true,
        description: `The vehicles, 1 to ${mostRows}.`,
        validate: entriesRule,
      }),
      mode: t.arg({ type: ImportMode, defaultValue: 'CREATE', description: 'How rows meet what is there.' }),
      dryRun: t.arg.boolean({
        defaultValue: false,
        description: 'Says what would happen and changes nothing.',
      }),
    },
    resolve: async (_, { locationId, entries, mode, dryRun }, context) => {
      if (!isId(locationId)) throw locationNotFound(locationId);
      return importRows(context, locationId, entries, { mode: mode ?? 'CREATE', dryRun: dryRun ?? false });
    },
  }),
);
