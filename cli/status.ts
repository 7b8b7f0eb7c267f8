import { setMaxListeners } from 'node:events';
import type { Command } from 'commander';
import { examples } from './arguments.ts';
import { Failure } from './failure.ts';
import { idsOf, locationIdOf } from './find.ts';
import { pauseOf } from './gateway-fetch.ts';
import {
  StatusChangedDocument,
  StatusDocument,
  StatusesDocument,
  type StatusFieldsFragment,
} from './generated/operations.ts';
import { pause } from './notices.ts';
import { sayWait, type Session } from './session.ts';

/** The columns of a table with the statuses of locations. */
export const statusColumns = {
  location: 'slug',
  state: 'state',
  inside: 'occupied',
  adjustment: 'adjustment',
  free: 'available',
  capacity: 'capacity',
  listed: 'whitelistedVehicles',
  'last activity': 'lastActivityAt',
} as const;

/**
 * The maximum number of locations that one `status` command watches at the same time. Each watched location needs one
 * open stream, and an API key may have 100 open streams.
 */
const maxWatched = 50;

const repeatable = { repeatable: true };

async function statusesOf({ client }: Session, ids: readonly string[] | undefined) {
  if (!ids) return (await client.run(StatusesDocument, {}, repeatable)).locationStatuses;
  const statuses: StatusFieldsFragment[] = [];
  for (const locationId of ids) {
    statuses.push((await client.run(StatusDocument, { locationId }, repeatable)).locationStatus);
  }
  return statuses;
}

/** Returns the status of a location as one line of text, for the option `--watch`. */
const lineOf = ({ updatedAt, slug, state, occupied, capacity }: StatusFieldsFragment) =>
  `${updatedAt}  ${slug}  ${state}  ${occupied} of ${capacity ?? '?'} inside`;

/**
 * Shows the current status of a location, and shows the status again after each change. If the subscription stream
 * breaks, the command reconnects. The function returns when the AbortSignal is aborted, and throws an error only after
 * a permanent failure.
 */
async function watch(
  { subscriber, output }: Session,
  locationId: string,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      // Each new subscription begins with the current status of the location, so the output is up to date again after
      // an interruption.
      const stream = subscriber.results(StatusChangedDocument, { locationId }, { signal });
      for await (const { locationStatusChanged: status } of stream) {
        failures = 0;
        output.next(status, lineOf(status));
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Failure) || !error.temporary) throw error;
      const seconds = pauseOf(error, failures);
      sayWait(output)(error.message, seconds);
      await pause(seconds * 1000, signal);
    }
  }
}

/** Adds the command `status`. */
export function addStatusCommand(program: Command, open: () => Session): void {
  program
    .command('status')
    .description('show the occupancy of locations (READ_STATUS)')
    .addHelpText('after', examples('pms status', 'pms --json status marina-gate --watch'))
    .argument('[location...]', "ids, slugs or names (default: all locations in the key's scope)")
    .option('--watch', 'show each change until Ctrl-C; with --json, one object per line')
    .action(async (named: string[], { watch: isWatching }: { watch?: boolean }) => {
      const session = open();
      const ids = await idsOf(locationIdOf, session.client, named.length > 0 ? named : undefined);
      const statuses = await statusesOf(session, ids);
      if (!isWatching) return session.output.many(statuses, statusColumns);
      if (statuses.length > maxWatched) {
        throw new Failure(
          `At most ${maxWatched} locations can be watched at once. Name the locations to watch.`,
        );
      }
      const stopping = new AbortController();
      const { signal } = stopping;
      setMaxListeners(maxWatched, signal);
      try {
        await Promise.all(statuses.map(({ locationId }) => watch(session, locationId, signal)));
      } finally {
        // after one event stream has failed, `abort` closes the other event streams, because an open event stream would
        // keep the command running
        stopping.abort();
      }
    });
}
