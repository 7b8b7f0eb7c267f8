import { readdirSync, readFileSync } from 'node:fs';

/** The resource usage of a process or a server at one moment. */
export interface Figures {
  /** Resident memory of a gateway, in MiB. */
  residentMib: number;
  /** Memory that JavaScript uses in a gateway, including garbage, in MiB. */
  heapMib: number;
  /** The number of open files and sockets of a gateway. */
  descriptors: number;
  /** The number of connections to PostgreSQL, of all gateways together. */
  databaseConnections: number;
  /** The number of connections to Redis, of all gateways together. */
  redisConnections: number;
}

/** The figures of one gateway at one time. */
export interface Sample extends Figures {
  /** The time of the figures, in seconds since the start of the soak. */
  seconds: number;
}

const bytesPerMib = 1024 * 1024;

/** Returns the value of a metric that has no labels. */
function metric(text: string, name: string): number {
  const [, value] = new RegExp(`^${name} (\\S+)$`, 'm').exec(text) ?? [];
  if (value === undefined) throw new Error(`There is no metric ${name}`);
  return Number(value);
}

/** The figures of a gateway process. The heap size comes from the metrics of the gateway. */
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

/** The smallest and the largest value of each figure among samples. */
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
 * The parts of a soak that the test compares, in tenths of the duration. During the first tenth, Node compiles code and
 * the pools fill.
 */
const parts = { beginning: [1, 3], middle: [4, 6], end: [8, 11] } as const;

/** The allowed growth of each figure from the beginning to the end. Caches and the heap grow to a maximum size. */
const allowedGrowth: Figures = {
  residentMib: 48,
  heapMib: 16,
  descriptors: 10,
  databaseConnections: 4,
  redisConnections: 4,
};

/**
 * Prints the figures of a gateway in the parts of a soak.
 * @returns the figures that grew from the beginning to the end, as texts. For the heap, the smallest value counts: that
 * is the heap size after a garbage collection.
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
