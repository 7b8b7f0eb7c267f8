import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { endWithThisProcess } from './guards.ts';
import { eventually } from './system-servers.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The maximum time until a started gateway accepts connections on a busy machine. */
const startTimeoutMs = 180_000;

/** A gateway in its own process, which runs the bundle in dist/. */
export interface GatewayProcess {
  child: ChildProcess;
  /** The output of the gateway so far. */
  output(): string;
  /** Returns the address on which the gateway listens. The function throws before the gateway listens. */
  url(): string;
  /** Waits until the gateway listens, and returns its address. */
  listening(): Promise<string>;
  /** Sends a signal and returns the exit code of the gateway, or null when the signal ended the process. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts a gateway from the bundle in dist/, without the DATABASE_URL and REDIS_URL of the test run. */
export function startGatewayProcess(env: Record<string, string>): GatewayProcess {
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...inherited } = process.env;
  const child = spawn(process.execPath, ['dist/server.js'], {
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
