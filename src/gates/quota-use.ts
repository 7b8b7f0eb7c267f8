import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';
import type { WhitelistEntry } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { groupBy } from '../database/group-by.ts';
import type { Sql } from '../database/types.ts';
import { usedQuotas } from '../parking/quota-statements.ts';
import { slotLimits } from '../scheduling/limits.ts';
import { createSlots } from '../scheduling/slots.ts';

/**
 * The maximum number of whitelist entries in one SQL statement, which searches the list of these entries for each
 * vehicle inside.
 */
const maxEntries = 250;

/**
 * How long an API key waits between two counts, as a multiple of the time that the earlier count took. The embedded
 * database runs one SQL statement at a time, and needs the pause for the gate decisions of other API keys.
 */
const pausePerCount = 2;

/**
 * The maximum pause between two counts of an API key, in milliseconds. Without a maximum, the gates of the API key
 * would wait for seconds after a count that failed because the database did not respond.
 */
const maxPauseMs = 200;

type QuotaEntry = Pick<WhitelistEntry, 'id' | 'locationId' | 'referenceId'>;

/** A gate decision that waits for the number of vehicles that use the quota of its whitelist entry. */
interface WaitingDecision {
  entry: QuotaEntry;
  resolve(used: number): void;
  reject(error: unknown): void;
}

/**
 * Creates a function that counts the vehicles inside that use the quota of a whitelist entry, except the vehicle of
 * this entry. The count takes tens of milliseconds for a reference with thousands of whitelist entries. An API key
 * therefore runs only one count at a time. The next count then answers all gate decisions of this API key that have
 * waited meanwhile, and counts the vehicles of each quota only once.
 */
export function createQuotaUse(sql: Sql): (key: AuthenticatedKey, entry: QuotaEntry) => Promise<number> {
  const slots = createSlots(slotLimits.quotaCounts);
  /** Maps the id of each API key to its waiting gate decisions. All of them belong to requests in progress. */
  const waiting = new Map<string, WaitingDecision[]>();

  async function countUsed(entries: readonly QuotaEntry[]): Promise<Map<string, number>> {
    const quotas = [
      ...groupBy(entries, ({ locationId, referenceId }) => `${locationId} ${referenceId}`).values(),
    ];
    const rows = await sql.query<{ n: number; used: number; ofEntries: string[] }>(
      usedQuotas,
      usedQuotas.values({
        locationId: quotas.map(([first]) => first!.locationId),
        referenceId: quotas.map(([first]) => first!.referenceId),
        entryIds: [...new Set(entries.map(({ id }) => id))],
      }),
    );
    return new Map(
      rows.flatMap(({ n, used, ofEntries }) =>
        quotas[n - 1]!.map(({ id }) => [id, used - (ofEntries.includes(id) ? 1 : 0)] as const),
      ),
    );
  }

  /** Answers up to `maxEntries` waiting gate decisions of an API key, and then pauses. */
  async function answerWaiting(keyId: string): Promise<void> {
    await nextIteration(); // until then, further gate decisions of the same request begin to wait
    const decisions = waiting.get(keyId)!;
    const answered = decisions.splice(0, maxEntries);
    if (decisions.length > 0) void slots.run(keyId, () => answerWaiting(keyId));
    else waiting.delete(keyId);
    const startedAt = performance.now();
    try {
      const used = await countUsed(answered.map(({ entry }) => entry));
      for (const { entry, resolve } of answered) resolve(used.get(entry.id)!);
    } catch (error) {
      for (const { reject } of answered) reject(error);
    }
    await sleep(Math.min(pausePerCount * (performance.now() - startedAt), maxPauseMs));
  }

  return ({ id: keyId }, entry) =>
    new Promise((resolve, reject) => {
      const decision = { entry, resolve, reject };
      const others = waiting.get(keyId);
      if (others) others.push(decision);
      else {
        waiting.set(keyId, [decision]);
        void slots.run(keyId, () => answerWaiting(keyId));
      }
    });
}
