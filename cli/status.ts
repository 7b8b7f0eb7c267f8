import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { Failure } from './failure.ts';
import { idsOf, locationIdOf } from './find.ts';
import { pauseAfter } from './gateway-fetch.ts';
import {
  StatusChangedDocument,
  StatusDocument,
  StatusesDocument,
  type StatusFieldsFragment,
} from './generated/operations.ts';
import { sayWait, type Session } from './session.ts';

/** How a status is shown to people. */
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

/** The most locations that one command watches: each is a stream of its own, of which a key has 100. */
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

/** A status in a line, for people who watch it change. */
const lineOf = ({ updatedAt, slug, state, occupied, capacity }: StatusFieldsFragment) =>
  `${updatedAt}  ${slug}  ${state}  ${occupied} of ${capacity ?? '?'} inside`;

/**
 * Shows the status of a location, and again each time that it changes. It goes on when the stream broke off, and
 * ends with a refusal.
 */
async function watch({ subscriber, output }: Session, locationId: string): Promise<never> {
  for (let failures = 1; ; failures += 1) {
    try {
      // A stream begins with the present status, so that nothing is missed when it broke off.
      const stream = subscriber.results(StatusChangedDocument, { locationId });
      for await (const { locationStatusChanged: status } of stream) {
        failures = 0;
        output.next(status, lineOf(status));
      }
    } catch (error) {
      if (!(error instanceof Failure) || !error.temporary) throw error;
      const seconds = pauseAfter(Math.max(failures, 1));
      sayWait(output)(error.message, seconds);
      await sleep(seconds * 1000);
    }
  }
}

/** Adds `status`. */
export function addStatusCommand(program: Command, open: () => Session): void {
  program
    .command('status')
    .description('show how full locations are (READ_STATUS)')
    .argument('[location...]', 'ids, slugs or names; all that the key reaches when left out')
    .option('--watch', 'show each change as it happens, with --json one object in a line; ends with Ctrl-C')
    .action(async (named: string[], { watch: isWatching }: { watch?: boolean }) => {
      const session = open();
      const ids = await idsOf(locationIdOf, session.client, named.length > 0 ? named : undefined);
      const statuses = await statusesOf(session, ids);
      if (!isWatching) return session.output.many(statuses, statusColumns);
      if (statuses.length > maxWatched) {
        throw new Failure(`At most ${maxWatched} locations can be watched at once: name those that matter.`);
      }
      await Promise.all(statuses.map(({ locationId }) => watch(session, locationId)));
    });
}
