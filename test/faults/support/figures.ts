import { readdirSync, readFileSync } from 'node:fs';

/** What a process or a server holds at one moment. */
export interface Figures {
  /** Memory of a gateway as the system counts it, in MiB. */
  residentMib: number;
  /** Memory of a gateway in use by JavaScript, garbage included, in MiB. */
  heapMib: number;
  /** Open files and sockets of a gateway. */
  descriptors: number;
  /** Connections to PostgreSQL, of all gateways together. */
  databaseConnections: number;
  /** Connections to Redis, of all gateways together. */
  redisConnections: number;
}

/** The figures of one gateway at one time. */
export interface Sample extends Figures {
  /** Since the start of the soak, in seconds. */
  seconds: number;
}

const bytesPerMib = 1024 * 1024;

/** The value of a metric without labels. */
function metric(text: string, name: string): number {
  const [, value] = new RegExp(`^${name} (\\S+)$`, 'm').exec(text) ?? [];
  if (value === undefined) throw new Error(`There is no metric ${name}`);
  return Number(value);
}

/** The figures of a process; its metrics tell of its heap. */
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

/** The parts of a soak that are compared, in tenths of its time: before the first, code is compiled and pools fill. */
const parts = { beginning: [1, 3], middle: [4, 6], end: [8, 11] } as const;

/** How much more a gateway may hold at the end than in the beginning: caches and the heap grow until they are full. */
const allowedGrowth: Figures = {
  residentMib: 48,
  heapMib: 16,
  descriptors: 10,
  databaseConnections: 4,
  redisConnections: 4,
};

/**
 * Prints what a gateway held in the parts of a soak.
 *
 * @returns in words what grew from the beginning to the end. Of the heap the least counts: what stays after the garbage
 *   was collected.
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
