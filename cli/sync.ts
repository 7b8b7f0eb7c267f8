import type { Command } from 'commander';
import { examples, withLocation } from './arguments.ts';
import { Failure } from './failure.ts';
import { locationIdOf } from './find.ts';
import { WhitelistChangedDocument } from './generated/operations.ts';
import { followNotices, untilItSucceeds } from './notices.ts';
import type { Session } from './session.ts';
import { readCopy, type WhitelistCopy, writeCopy } from './whitelist-copy.ts';
import { feedPages } from './whitelist-feed.ts';

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

/**
 * Reads all changes of a whitelist since the old copy was made, and returns a new copy. The function does not modify
 * the old copy of the whitelist, so the old copy is still correct if the function fails.
 */
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

/**
 * Reads all changes of a whitelist since the old copy was made, and returns a new copy. If the gateway rejects the
 * cursor (the position in the whitelist feed) of the old copy, the function reads the complete whitelist again.
 */
async function nextCopyOrWhole(session: Session, from: WhitelistCopy): Promise<Round> {
  try {
    return await nextCopy(session, from);
  } catch (error) {
    const isRefused = error instanceof Failure && error.code === 'VALIDATION_ERROR' && from.cursor !== null;
    if (!isRefused) throw error;
    return nextCopy(session, { ...from, cursor: null, entries: new Map() });
  }
}

/** Updates the local copy of a whitelist and writes the copy to its file. */
async function syncOnce(session: Session, path: string, from: WhitelistCopy): Promise<Round> {
  const round = await nextCopyOrWhole(session, from);
  await writeCopy(path, round.copy);
  return round;
}

/** Adds the command `sync`. */
export function addSyncCommand(program: Command, open: () => Session): void {
  withLocation(program.command('sync'))
    .description('keep a copy of a whitelist in a file, for a gate that decides while it is offline')
    .addHelpText(
      'after',
      examples(
        'pms sync --location marina-gate --output plates.json',
        'pms sync --location marina-gate --output plates.json --watch',
      ),
    )
    .requiredOption('--output <file>', 'the JSON file for the copy; the file is replaced atomically')
    .option('--watch', 'keep running and apply each change until Ctrl-C')
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
      const stopping = new AbortController();
      const { signal } = stopping;
      const notices = followNotices(
        session,
        (onConnected) =>
          session.subscriber.results(WhitelistChangedDocument, { locationId }, { onConnected, signal }),
        signal,
      );
      try {
        for (;;) {
          await notices.next();
          const round = await sync();
          if (round.isNews) report(round);
        }
      } finally {
        stopping.abort();
      }
    });
}
