import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** The properties of a V8 CPU profile that `profile.ts` reads. */
interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
}

const shownFunctions = 40;
/**
 * The share of each CPU profile that the benchmark ignores. The benchmark ignores the first part of the CPU profile, in
 * which Node still loads and compiles modules.
 */
const startUp = 0.3;

/**
 * Reads the CPU profiles in a folder. Returns a text with the functions and packages that used the most processor time.
 */
export async function hottest(folder: string): Promise<string> {
  const byFunction = new Map<string, number>();
  const byPackage = new Map<string, number>();
  for (const file of await readdir(folder)) {
    const profile = JSON.parse(await readFile(join(folder, file), 'utf8')) as CpuProfile;
    const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
    const duration = profile.timeDeltas.reduce((sum, delta) => sum + delta, 0);
    let elapsed = 0;
    profile.samples.forEach((id, index) => {
      elapsed += profile.timeDeltas[index]!;
      if (elapsed < duration * startUp) return;
      const { functionName, url, lineNumber } = frames.get(id)!;
      if (functionName === '(idle)') return;
      const time = profile.timeDeltas[index]!;
      const place = placeOf(url);
      add(byFunction, `${functionName || '(anonymous)'}  ${place}:${lineNumber + 1}`, time);
      add(byPackage, url === '' ? functionName || '(native)' : packageOf(place), time);
    });
  }
  const total = [...byPackage.values()].reduce((sum, time) => sum + time, 0);
  const lines = (times: Map<string, number>, most: number) =>
    [...times]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, most)
      .map(([name, time]) => `  ${((100 * time) / total).toFixed(1).padStart(5)}%  ${name}`)
      .join('\n');
  return `\nSelf time by package, of busy time\n${lines(byPackage, 20)}\nSelf time by function\n${lines(byFunction, shownFunctions)}`;
}

function add(times: Map<string, number>, name: string, time: number): void {
  times.set(name, (times.get(name) ?? 0) + time);
}

const placeOf = (url: string) =>
  url.startsWith('file://') ? relative(process.cwd(), new URL(url).pathname) : url;

const packageOf = (place: string) =>
  place.match(/node_modules\/((?:@[^/]+\/)?[^/]+)(?!.*node_modules)/)?.[1] ??
  place.replace(/^node:.*/, 'node:*');
