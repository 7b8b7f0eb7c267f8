import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { LoadJob, LoadResult } from './load.ts';

/**
 * Returns the path of a script that was built before the benchmark: `dist/server.js` if `name` is `server` (the
 * gateway), and otherwise a file in `bench/dist/`.
 */
const built = (name: string) =>
  fileURLToPath(new URL(name === 'server' ? '../dist/server.js' : `dist/${name}.js`, import.meta.url));

/** The maximum time that a server may need from its start until it answers requests, in milliseconds. */
const longestStart = 30_000;

/** A server of the benchmark, which runs in its own process. */
export interface Server {
  origin: string;
  pid: number;
  stop(): Promise<void>;
}

/**
 * The settings with which `startServer` starts a server. In addition to the environment variables in `env`, the
 * function `startServer` sets PATH, NODE_ENV and PORT.
 */
export interface ServerOptions {
  /** The name of the built script that starts the server. */
  script: string;
  env: NodeJS.ProcessEnv;
  /** The command line options of Node itself, which come before the name of the script. */
  nodeOptions?: string[];
  /**
   * The path of the Node executable with which the server runs. If the option `node` is omitted, the server runs with
   * the same Node executable as the benchmark.
   */
  node?: string | undefined;
}

/**
 * Starts a server and waits until it answers requests. `startServer` discards the server's standard output (its log),
 * and passes on the server's standard error.
 */
export async function startServer({
  script,
  env,
  nodeOptions = [],
  node = process.execPath,
}: ServerOptions): Promise<Server> {
  const port = await freePort();
  const child = spawn(node, [...nodeOptions, built(script)], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  const origin = `http://127.0.0.1:${port}`;
  for (const startedAt = Date.now(); ; await sleep(50)) {
    if (child.exitCode !== null) throw new Error(`${script} exited with code ${child.exitCode}`);
    if (Date.now() - startedAt > longestStart)
      throw new Error(`${script} did not answer within ${longestStart / 1000} seconds`);
    const answered = await fetch(`${origin}/livez`).then(
      () => true,
      () => false,
    );
    if (answered) break;
  }
  return {
    origin,
    pid: child.pid!,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

/**
 * A process of the benchmark that sends load to the servers. The load process sends the requests of all measurements,
 * one measurement after the other.
 */
export interface LoadProcess {
  run(job: LoadJob): Promise<LoadResult>;
  stop(): void;
}

/** Starts the load process, which sends the requests of the measurements. */
export function startLoad(): LoadProcess {
  const child: ChildProcess = fork(built('bench-load'));
  return {
    async run(job) {
      child.send(job);
      const waiting = new AbortController();
      const { signal } = waiting;
      const ended = once(child, 'exit', { signal }).then(() => {
        throw new Error('the load process exited');
      });
      const answered = once(child, 'message', { signal }) as Promise<[LoadResult]>;
      const [result] = await Promise.race([answered, ended]).finally(() => {
        // The call of `waiting.abort()` rejects the promise `ended`. If no `catch` handled the rejection of this
        // promise, Node would end the benchmark process.
        ended.catch(() => undefined);
        waiting.abort();
      });
      return result;
    },
    stop: () => void child.kill(),
  };
}

/**
 * Returns how much memory a process uses (its resident set), in MiB. Returns `undefined` on an operating system without
 * /proc.
 */
export async function residentMemory(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, kibibytes] = status.match(/^VmRSS:\s*(\d+)/m) ?? [];
  return kibibytes === undefined ? undefined : Number(kibibytes) / 1024;
}

/**
 * Returns the processor time of a process in milliseconds. Returns `undefined` on an operating system without /proc.
 * Linux shows the processor time of a whole process only in steps of 10 ms, but shows exact processor times for each
 * thread. To get an exact time, the function adds up the processor times of all threads of the process.
 */
export async function processorTime(pid: number): Promise<number | undefined> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const times = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '')),
  );
  const nanoseconds = times.filter(Boolean).map((text) => Number(text.split(' ')[0]));
  if (nanoseconds.length === 0) return undefined;
  return nanoseconds.reduce((sum, time) => sum + time, 0) / 1e6;
}

/**
 * Measures the memory of a process again and again, until the caller calls `stop`. `stop` returns the largest amount of
 * memory that was measured, in MiB.
 */
export function watchMemory(pid: number): { stop(): number } {
  let peak = 0;
  const sample = async () => {
    peak = Math.max(peak, (await residentMemory(pid)) ?? 0);
  };
  // If the benchmark fails during a measurement, no code calls `stop`, so the timer is never cleared. Because of
  // `unref`, the timer does not keep the benchmark process running.
  const timer = setInterval(() => void sample(), 20).unref();
  return {
    stop() {
      clearInterval(timer);
      return peak;
    },
  };
}
