import type { Command } from 'commander';
import { examples, positive, time } from './arguments.ts';
import type { Client } from './client.ts';
import type { Difference } from './compare.ts';
import { exitCode, Failure } from './failure.ts';
import {
  EntriesDocument,
  LocationsDocument,
  OwnUsageDocument,
  StatusesDocument,
  ViewerDocument,
} from './generated/operations.ts';
import { firstItemsOf } from './pages.ts';
import { type Comparison, compareRead, notCompared, notComparedAfter } from './parity-read.ts';
import type { Session } from './session.ts';

/**
 * The default number of days for which `pms parity` reads the usage of the API key. The GraphQL field `usage` accepts
 * up to 31 days.
 */
const usedDays = 30;
const dayMs = 86_400_000;
/**
 * The default number of locations whose data `pms parity` reads. Usage records do not say which locations the API key
 * has read, so the command reads several locations.
 */
const defaultLocations = 10;
/** The default number of pages that `pms parity` compares in each list. A page of a list has 100 items. */
const defaultPages = 10;
/** The maximum number of residents (references) for whom `pms parity` compares REST with GraphQL at each location. */
const maxResidents = 3;

const repeatable = { repeatable: true };

/** A REST route with the method GET that the API key has used, and the number of requests. */
interface UsedRead {
  /** The method and the route, such as `GET /locations/{locationId}/whitelist`. */
  operation: string;
  requests: number;
}

/**
 * A row of the table that `pms parity` shows. Each row shows one path that `pms parity` has read through REST and
 * through GraphQL.
 */
interface Row extends UsedRead {
  /**
   * The path that the command requested. If the command found no values for the parameters of the route, `path` is the
   * route itself.
   */
  path: string;
  items: number;
  differences: Difference[];
  obstacle: string | null;
}

interface ParityOptions {
  from?: string;
  to?: string;
  locations: number;
  pages: number;
}

/**
 * Returns the REST routes with the method GET that the API key has used. The returned list starts with the REST route
 * that the API key has used most often.
 */
async function usedReads(client: Client, range: Pick<ParityOptions, 'from' | 'to'>): Promise<UsedRead[]> {
  const from =
    range.from ?? new Date((range.to ? Date.parse(range.to) : Date.now()) - usedDays * dayMs).toISOString();
  const { viewer } = await client.run(OwnUsageDocument, { ...range, from }, repeatable);
  const requests = new Map<string, number>();
  for (const { surface, operation, requests: count } of viewer.usage) {
    if (surface !== 'rest' || !/^GET \/\S*$/.test(operation)) continue;
    requests.set(operation, (requests.get(operation) ?? 0) + count);
  }
  return [...requests]
    .map(([operation, count]) => ({ operation, requests: count }))
    .sort((a, b) => b.requests - a.requests);
}

/**
 * Returns the result of a request to the gateway, or undefined when the API key does not have the permission for this
 * request.
 */
async function ifPermitted<Value>(question: Promise<Value>): Promise<Value | undefined> {
  return question.catch((error: unknown) => {
    if (error instanceof Failure && error.code === 'FORBIDDEN') return undefined;
    throw error;
  });
}

/**
 * Returns the ids of locations in the scope of the API key. If the API key may read the list of locations, the function
 * takes the location ids from this list. If the API key may read only the statuses of locations, the function takes the
 * location ids from these statuses. If the API key may read neither locations nor their statuses, the function takes
 * the location ids from the scope of the API key.
 */
async function reachedLocations(client: Client, limit: number): Promise<string[]> {
  const listed = await ifPermitted(
    firstItemsOf(
      limit,
      async (_, after) => (await client.run(LocationsDocument, { after }, repeatable)).locations,
    ),
  );
  if (listed) return listed.items.map(({ id }) => id).slice(0, limit);
  const statuses = await ifPermitted(client.run(StatusesDocument, {}, repeatable));
  if (statuses) return statuses.locationStatuses.map(({ locationId }) => locationId).slice(0, limit);
  const { viewer } = await client.run(ViewerDocument, {}, repeatable);
  return viewer.locationIds.slice(0, limit);
}

/**
 * Returns up to `maxResidents` reference ids of residents at a location, or an empty list if the API key may not read
 * the whitelist.
 */
async function residentsOf(client: Client, locationId: string): Promise<string[]> {
  const page = await ifPermitted(client.run(EntriesDocument, { locationId, first: 100 }, repeatable));
  return [...new Set(page?.whitelist.nodes.map(({ referenceId }) => referenceId))].slice(0, maxResidents);
}

/**
 * Returns the paths that `pms parity` requests for a REST route. If the route has parameters for a location and a
 * resident, the function returns one path for each resident of each location.
 */
async function pathsOf(
  { operation }: UsedRead,
  client: Client,
  locationIds: readonly string[],
): Promise<string[]> {
  const path = `/api${operation.slice('GET '.length)}`;
  if (!path.includes('{')) return [path];
  const paths: string[] = [];
  for (const locationId of path.includes('{locationId}') ? locationIds : []) {
    const ofLocation = path.replace('{locationId}', locationId);
    if (!ofLocation.includes('{')) paths.push(ofLocation);
    else if (ofLocation.includes('{residentId}')) {
      const residents = await residentsOf(client, locationId);
      paths.push(...residents.map((id) => ofLocation.replace('{residentId}', encodeURIComponent(id))));
    }
  }
  return paths;
}

/** Compares REST with GraphQL for each path of each REST route that the API key has used. */
async function compareReads(
  { client, rest, output }: Session,
  reads: readonly UsedRead[],
  options: ParityOptions,
) {
  const needLocations = reads.some(({ operation }) => operation.includes('{locationId}'));
  const locationIds = needLocations ? await reachedLocations(client, options.locations) : [];
  const rows: Row[] = [];
  for (const read of reads) {
    const add = (path: string, { obstacle, ...compared }: Comparison) =>
      rows.push({ ...read, path, ...compared, obstacle: obstacle ?? null });
    const route = read.operation.slice('GET '.length);
    const paths = await pathsOf(read, client, locationIds).catch(notComparedAfter);
    if (!Array.isArray(paths)) add(route, paths);
    else if (paths.length === 0) add(route, notCompared('found no location or resident for the route'));
    else {
      for (const path of paths) {
        output.say(`Comparing ${path}`);
        add(path, await compareRead(rest, path, options.pages).catch(notComparedAfter));
      }
    }
  }
  return rows;
}

/** Returns the text that `pms parity` shows in its table for the result of a comparison. */
const resultText = ({ differences, obstacle }: Row) =>
  obstacle
    ? `not compared: ${obstacle}`
    : differences.length === 0
      ? 'same'
      : `${differences.length} differences`;

const columns = { request: 'path', used: 'requests', 'items compared': 'items', result: resultText } as const;

/**
 * Adds the command `parity`.
 *
 * @param end a function that sets the exit code of the process; without a call of `end`, the exit code is 0
 */
export function addParityCommand(program: Command, open: () => Session, end: (code: number) => void): void {
  program
    .command('parity')
    .description('compare REST with GraphQL for the REST reads of the key, and report any difference')
    .addHelpText(
      'after',
      examples('pms parity', 'pms parity --from 2027-01-01T00:00:00Z --locations 3 --pages 1'),
    )
    .option(
      '--from <time>',
      `the start of the period, ISO 8601 (default: ${usedDays} days before the end)`,
      time,
    )
    .option('--to <time>', 'the end of the period, ISO 8601 (default: now)', time)
    .option(
      '--locations <count>',
      "how many locations in the key's scope to read",
      positive,
      defaultLocations,
    )
    .option('--pages <count>', 'how many pages of 100 items to compare of each list', positive, defaultPages)
    .action(async (options: ParityOptions) => {
      const session = open();
      const { output } = session;
      const { from, to } = options;
      const reads = await usedReads(session.client, { ...(from && { from }), ...(to && { to }) });
      const rows = await compareReads(session, reads, options);
      output.many(rows, columns);
      for (const { path, differences } of rows) {
        for (const { field, rest, graph } of differences) {
          output.say(`${path} ${field}\n  REST:  ${JSON.stringify(rest)}\n  graph: ${JSON.stringify(graph)}`);
        }
      }
      if (reads.length === 0) output.say('The key has not used any REST read in this time.');
      if (rows.some(({ differences, obstacle }) => differences.length > 0 || obstacle))
        end(exitCode.different);
    });
}
