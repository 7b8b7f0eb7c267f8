import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { endWithThisProcess } from './guards.ts';
import type { ScratchDatabase } from './scratch-database.ts';
import { eventually } from './system-servers.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The Node options for a process that runs only for a short time in a test. The option `--liftoff-only` switches off
 * the optimizing compiler for WebAssembly. In a process that runs only for seconds, the optimizing compiler would use
 * half of the CPU time to compile the code of the embedded database.
 */
export const shortProcessOptions = ['--liftoff-only'];

/** The maximum time from the start of a gateway until the gateway accepts connections, on a busy machine. */
const startTimeoutMs = 180_000;

/** A gateway process that runs the built program in dist/. */
export interface GatewayProcess {
  child: ChildProcess;
  /** The text that the gateway process has written to its output until now. */
  output(): string;
  /** Returns the URL on which the gateway listens, or throws an error when the gateway does not listen yet. */
  url(): string;
  /** Waits until the gateway listens, and returns its URL. */
  listening(): Promise<string>;
  /**
   * Sends a signal to the gateway and returns the exit code of its process, or null when the signal killed the process.
   */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Returns the environment variables with which a gateway process uses the database of a test. */
export const databaseVariables = ({ dataDir, databaseUrl }: ScratchDatabase): Record<string, string> => ({
  DATA_DIR: dataDir,
  ...(databaseUrl && { DATABASE_URL: databaseUrl }),
});

/**
 * Starts a gateway from the built program in dist/. The gateway does not inherit DATABASE_URL and REDIS_URL from the
 * test run.
 */
export function startGatewayProcess(env: Record<string, string>): GatewayProcess {
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...inherited } = process.env;
  const child = spawn(process.execPath, [...shortProcessOptions, 'dist/server.js'], {
    cwd: root,
    env: { ...inherited, PORT: '0', ...env },
  });
  endWithThisProcess(child);
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));

  const gateway: GatewayProcess = {
    child,
    output: () => output,
    url() {
      const [, url] = /"url":"([^"]+)","msg":"listening"/.exec(output) ?? [];
      if (!url) throw new Error(`The gateway does not listen yet:\n${output}`);
      return url;
    },
    listening: () => eventually('the gateway listens', async () => gateway.url(), startTimeoutMs),
    async end(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      child.kill(signal);
      const [code] = (await once(child, 'exit')) as [number | null];
      return code;
    },
  };
  return gateway;
}
