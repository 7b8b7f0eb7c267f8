import { readFileSync } from 'node:fs';
import { type Client, createClient } from './client.ts';
import { createConnection } from './connection.ts';
import { exitCode, Failure } from './failure.ts';
import { createOutput, type Output, type Streams } from './output.ts';
import { createRestClient, type RestClient } from './rest-client.ts';
import { createSubscriber, type Subscriber } from './subscription.ts';

/** What a command works with. */
export interface Session {
  client: Client;
  rest: RestClient;
  subscriber: Subscriber;
  output: Output;
  streams: Streams;
}

/** The options that every command has. */
export interface SessionOptions {
  url: string;
  keyFile?: string;
  json?: boolean;
}

/** The file descriptor of the standard input. */
const standardInput = 0;

function readKey(keyFile: string | undefined, env: Record<string, string | undefined>): string {
  if (keyFile === undefined) {
    if (env.PMS_API_KEY) return env.PMS_API_KEY;
    throw new Failure('No key: set PMS_API_KEY, or name a file with --key-file', exitCode.usage);
  }
  try {
    return readFileSync(keyFile === '-' ? standardInput : keyFile, 'utf8').trim();
  } catch (error) {
    throw new Failure(`Cannot read the key file: ${(error as Error).message}`, exitCode.usage);
  }
}

/** Says why, and for how long, a command waits. */
export const sayWait = (output: Output) => (reason: string, seconds: number) =>
  output.say(`${reason}; going on in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`);

/**
 * Opens a session. The key comes from the environment or from a file, never from an argument: arguments are
 * seen by everyone on the machine.
 *
 * @throws {Failure} when there is no key, or no gateway can have the URL
 */
export function openSession(
  { url, keyFile, json = false }: SessionOptions,
  streams: Streams,
  env: Record<string, string | undefined>,
): Session {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new Failure(`Not the URL of a gateway: ${url}`, exitCode.usage);
  }
  const output = createOutput(streams, { json });
  const gateway = { url, key: readKey(keyFile, env), onWait: sayWait(output) };
  const connection = createConnection(gateway);
  return {
    client: createClient(connection, gateway),
    rest: createRestClient(connection),
    subscriber: createSubscriber(gateway),
    output,
    streams,
  };
}
