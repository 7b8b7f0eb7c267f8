import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { withLocation } from './arguments.ts';
import { Failure } from './failure.ts';
import { locationIdOf } from './find.ts';
import { pauseAfter } from './gateway-fetch.ts';
import { WhitelistChangedDocument } from './generated/operations.ts';
import { sayWait, type Session } from './session.ts';
import { readCopy, type WhitelistCopy, writeCopy } from './whitelist-copy.ts';
import { feedPages } from './whitelist-feed.ts';

/** How often the feed is asked while no notices come: 240 requests an hour of the 1,000 that a key has. */
const pollIntervalMs = 15_000;
/** How often it is asked although notices come, so that `syncedAt` says how old the copy is, to a minute or so. */
const refreshIntervalMs = 60_000;
/** Notices that come within this time are answered by one request, and one file. */
const gatheringMs = 200;

interface SyncOptions {
  location: string;
  output: string;
  watch?: boolean;
}

interface Round {
  copy: WhitelistCopy;
  upserts: number;
  removals: number;
  reset: boolean;
}

/** The copy with all that changed since; the given one stays as it is, so that a broken round leaves nothing behind. */
async function nextCopy({ client }: Session, from: WhitelistCopy): Promise<Round> {
  const { locationId } = from;
  const entries = new Map(from.entries);
  const syncedAt = new Date().toISOString();
  const round = { upserts: 0, removals: 0, reset: from.cursor === null };
  let { cursor, timezone } = from;
  for await (const page of feedPages(client, locationId, cursor, {
    repeatable: false,
    withUses: true,
  })) {
    if (page.reset) {
      entries.clear();
      round.reset = true;
    }
    for (const { id } of page.removals) entries.delete(id);
    for (const entry of page.upserts) entries.set(entry.id, entry);
    round.upserts += page.upserts.length;
    round.removals += page.removals.length;
    ({ cursor, timezone } = page);
  }
  return { ...round, copy: { locationId, timezone, cursor, syncedAt, entries } };
}

/** The same; with a cursor that this gateway does not take, from the start of the list. */
async function nextCopyOrWhole(session: Session, from: WhitelistCopy): Promise<Round> {
  try {
    return await nextCopy(session, from);
  } catch (error) {
    const isRefused = error instanceof Failure && error.code === 'VALIDATION_ERROR' && from.cursor !== null;
    if (!isRefused) throw error;
    return nextCopy(session, { ...from, cursor: null, entries: new Map() });
  }
}

/** Brings a copy up to date and writes it. */
async function syncOnce(session: Session, path: string, from: WhitelistCopy): Promise<Round> {
  const round = await nextCopyOrWhole(session, from);
  await writeCopy(path, round.copy);
  return round;
}

/** Tries until it succeeds, with pauses of 30 seconds at most; it ends with a refusal. */
async function untilItSucceeds<Result>(work: () => Promise<Result>, { output }: Session): Promise<Result> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Failure) || !error.temporary) throw error;
      sayWait(output)(error.message, pauseAfter(failures));
      await sleep(pauseAfter(failures) * 1000);
    }
  }
}

/** Follows the notices of a location in the background; where no stream can be had, time does their work. */
function followNotices({ subscriber, output }: Session, locationId: string) {
  let isConnected = false;
  let isOutageSaid = false;
  let isNoticed = false;
  let wake = () => {};
  const notice = () => {
    isNoticed = true;
    wake();
  };

  async function follow(): Promise<never> {
    for (let failures = 1; ; failures += 1) {
      try {
        const onConnected = () => {
          isConnected = true;
          isOutageSaid = false;
          failures = 0;
          notice(); // what changed while there was no stream
        };
        const stream = subscriber.results(WhitelistChangedDocument, { locationId }, onConnected);
        for await (const _ of stream) notice();
      } catch (error) {
        if (!isOutageSaid) {
          output.say(`${(error as Error).message}; asking every ${pollIntervalMs / 1000} seconds meanwhile`);
        }
        isOutageSaid = true;
        isConnected = false;
        await sleep(pauseAfter(Math.max(failures, 1)) * 1000);
      }
    }
  }
  void follow();

  return {
    /** Waits for a notice, or until it is time to ask anyway. */
    async next(): Promise<void> {
      if (!isNoticed) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, isConnected ? refreshIntervalMs : pollIntervalMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      await sleep(gatheringMs);
      isNoticed = false;
    },
  };
}

/** Adds `sync`. */
export function addSyncCommand(program: Command, open: () => Session): void {
  withLocation(program.command('sync'))
    .description('keep a copy of a whitelist in a file, for a gate that decides while the line is down')
    .requiredOption('--output <file>', 'the file with the copy: JSON, always complete')
    .option('--watch', 'go on, and take up each change as it happens; ends with Ctrl-C')
    .action(async ({ location, output: path, watch }: SyncOptions) => {
      const session = open();
      const { client, output } = session;
      const patiently = <Result>(work: () => Promise<Result>) =>
        watch ? untilItSucceeds(work, session) : work();
      const locationId = await patiently(() => locationIdOf(client, location));
      let copy = await readCopy(path, locationId);
      const sync = async () => {
        const round = await patiently(() => syncOnce(session, path, copy));
        const isNews = round.reset || round.upserts + round.removals > 0;
        ({ copy } = round);
        return { ...round, isNews, entries: copy.entries.size };
      };
      const report = ({ entries, upserts, removals, reset }: Awaited<ReturnType<typeof sync>>) => {
        const shown = { entries, upserts, removals, reset };
        if (watch)
          output.next(
            shown,
            `${copy.syncedAt}  ${entries} entries: ${upserts} added or changed, ${removals} removed`,
          );
        else
          output.one(shown, {
            entries: 'entries',
            'added or changed': 'upserts',
            removed: 'removals',
            'whole list': 'reset',
          });
      };
      report(await sync());
      if (!watch) return;
      const notices = followNotices(session, locationId);
      for (;;) {
        await notices.next();
        const round = await sync();
        if (round.isNews) report(round);
      }
    });
}
