import { readdirSync, readFileSync } from 'node:fs';

/**
 * The measured resources: the memory and the open files of one gateway process, and the connections of all gateways.
 */
export interface Figures {
  /** The resident memory of a gateway process, in MiB. */
  residentMib: number;
  /** The JavaScript heap that a gateway process uses, including garbage, in MiB. */
  heapMib: number;
  /** The number of open files and sockets of a gateway process. */
  descriptors: number;
  /** The number of connections from all gateways to PostgreSQL. */
  databaseConnections: number;
  /** The number of connections from all gateways to Redis. */
  redisConnections: number;
}

/** The resource usage of one gateway at one time in a soak test (a long run under load). */
export interface Sample extends Figures {
  /** The time of the measurement, in seconds since the start of the soak test. */
  seconds: number;
}

const bytesPerMib = 1024 * 1024;

/** Returns the value of a metric that has no labels. */
function metric(text: string, name: string): number {
  const [, value] = new RegExp(`^${name} (\\S+)$`, 'm').exec(text) ?? [];
  if (value === undefined) throw new Error(`There is no metric ${name}`);
  return Number(value);
}

/**
 * Measures the memory and the file descriptors of a gateway process. The size of the JavaScript heap comes from the
 * metrics of the gateway.
 */
export async function figuresOfProcess(
  pid: number,
  metricsUrl: string,
): Promise<Pick<Figures, 'residentMib' | 'heapMib' | 'descriptors'>> {
  const [, residentKib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  const metrics = await (await fetch(metricsUrl)).text();
  return {
    residentMib: Number(residentKib) / 1024,
    heapMib: metric(metrics, 'nodejs_heap_size_used_bytes') / bytesPerMib,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** For each measured resource (such as memory), the smallest and the largest value in a list of samples. */
type Ranges = Record<keyof Figures, { least: number; most: number }>;

function rangesOf(samples: readonly Sample[]): Ranges {
  const range = (name: keyof Figures) => {
    const values = samples.map((sample) => sample[name]);
    return { least: Math.min(...values), most: Math.max(...values) };
  };
  return {
    residentMib: range('residentMib'),
    heapMib: range('heapMib'),
    descriptors: range('descriptors'),
    databaseConnections: range('databaseConnections'),
    redisConnections: range('redisConnections'),
  };
}

/**
 * The parts of a soak test (a long run under load) whose resource usage the test compares with each other. For example,
 * `[1, 3]` means the part from 10 % to 30 % of the test duration. The test ignores the first 10 % of the duration,
 * because during this time Node still compiles code, and the connection pools still open connections.
 */
const parts = { beginning: [1, 3], middle: [4, 6], end: [8, 11] } as const;

/**
 * The maximum growth of each measured resource, such as memory, during a soak test (a long run under load). Some growth
 * of memory is normal, because caches and the heap grow until they reach a maximum size.
 */
const allowedGrowth: Figures = {
  residentMib: 48,
  heapMib: 16,
  descriptors: 10,
  databaseConnections: 4,
  redisConnections: 4,
};

/**
 * Prints the resource usage of a gateway in each part of a soak test.
 * @returns one text for each measured resource, such as memory, that grew too much from the beginning to the end of the
 *   soak test. For the heap, the function compares the smallest size in each part of the soak test, because the heap is
 *   smallest after a garbage collection. For every resource other than the heap, the function compares the largest
 *   value in each part of the soak test.
 */
export function compareParts(samples: readonly Sample[], minutes: number): string[] {
  const tenth = (minutes * 60) / 10;
  const rangesIn = ([from, to]: readonly [number, number]) =>
    rangesOf(samples.filter(({ seconds }) => seconds >= from * tenth && seconds < to * tenth));
  const shown = Object.entries(parts).map(([part, span]) => {
    const ranges = Object.entries(rangesIn(span)).map(([name, { least, most }]) => [
      name,
      `${Math.round(least)} to ${Math.round(most)}`,
    ]);
    return { part, ...Object.fromEntries(ranges) };
  });
  console.table(shown);
  const [before, after] = [rangesIn(parts.beginning), rangesIn(parts.end)];
  return (Object.keys(allowedGrowth) as (keyof Figures)[]).flatMap((name) => {
    const bound = name === 'heapMib' ? 'least' : 'most';
    const grown = after[name][bound] - before[name][bound];
    return grown > allowedGrowth[name] ? [`${name} grew by ${Math.round(grown)}`] : [];
  });
}
