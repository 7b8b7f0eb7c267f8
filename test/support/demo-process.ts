import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGatewayProcess } from './gateway-process.ts';
import { createEmbeddedDatabase } from './scratch-database.ts';
import { eventually } from './system-servers.ts';

/** A gateway process that has started for the first time, and has created the demo data and two API keys. */
interface DemoProcess {
  url: string;
  demoKey: string;
  operatorKey: string;
  /** The output of the gateway so far. */
  output(): string;
  /** Stops the gateway and removes its data. */
  end(): Promise<void>;
}

/**
 * How long `startDemoProcess` waits until a new gateway has written its API keys to a file. On a busy machine, the
 * first start of a gateway takes long.
 */
const startTimeoutMs = 180_000;

/**
 * Starts a gateway in a new process, on an empty database to which all migrations have been applied. The gateway
 * creates its API keys and the demo data, like a gateway that starts for the first time.
 */
export async function startDemoProcess(env: Record<string, string> = {}): Promise<DemoProcess> {
  const { dataDir, drop } = await createEmbeddedDatabase();
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
      await drop();
    },
  };
}
