import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGatewayProcess } from './gateway-process.ts';
import { eventually } from './system-servers.ts';

/** A gateway at its first start, with the demo data and the two keys that the gateway created. */
interface DemoProcess {
  url: string;
  demoKey: string;
  operatorKey: string;
  /** The output of the gateway so far. */
  output(): string;
  /** Stops the gateway and removes its data. */
  end(): Promise<void>;
}

/** The maximum time in which a first start must write its keys on a busy machine. */
const startTimeoutMs = 180_000;

/** Starts a gateway for the first time in a new process, as `npm ci && npm start` does. */
export async function startDemoProcess(env: Record<string, string> = {}): Promise<DemoProcess> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-demo-'));
  const gateway = startGatewayProcess({ ...env, DATA_DIR: dataDir });
  const url = await gateway.listening();
  const keyOf = (name: string) =>
    eventually(
      'the keys of the first start',
      async () => {
        const keys = readFileSync(join(dataDir, 'first-keys.txt'), 'utf8');
        return new RegExp(`${name}\\s+(pms_\\S+)`).exec(keys)![1]!;
      },
      startTimeoutMs,
    );
  return {
    url,
    demoKey: await keyOf('demo'),
    operatorKey: await keyOf('operator'),
    output: gateway.output,
    async end() {
      await gateway.end();
      rmSync(dataDir, { recursive: true });
    },
  };
}
