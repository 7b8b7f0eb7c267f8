import { readFileSync } from 'node:fs';
import { type Client, createClient } from './client.ts';
import { createConnection } from './connection.ts';
import { exitCode, Failure } from './failure.ts';
import { requireGatewayUrl } from './gateway-url.ts';
import { createOutput, type Output, type Streams } from './output.ts';
import { createRestClient, type RestClient } from './rest-client.ts';
import { createSubscriber, type Subscriber } from './subscription.ts';

/**
 * The session of a command: the clients with which the command calls the gateway, its input and output streams, and its
 * output functions.
 */
export interface Session {
  client: Client;
  rest: RestClient;
  subscriber: Subscriber;
  output: Output;
  streams: Streams;
  /** The command-line arguments of the process. */
  args: readonly string[];
}

/** The options that every command accepts. */
export interface SessionOptions {
  url: string;
  keyFile?: string;
  json?: boolean;
  fullIds?: boolean;
}

/** The file descriptor of the standard input. */
const standardInput = 0;

/**
 * Reads the API key as text from an environment variable, a file or the standard input. The field `name` of the result
 * is for error messages. It says where the text comes from: the environment variable, the file or the standard input.
 */
function readKeyText(
  keyFile: string | undefined,
  env: Record<string, string | undefined>,
): { text: string; name: string } {
  if (keyFile === undefined) {
    if (env.PMS_API_KEY) return { text: env.PMS_API_KEY, name: 'PMS_API_KEY' };
    throw new Failure('No API key: set PMS_API_KEY, or name a file with --key-file', exitCode.usage);
  }
  try {
    if (keyFile === '-') return { text: readFileSync(standardInput, 'utf8'), name: 'the standard input' };
    return { text: readFileSync(keyFile, 'utf8'), name: keyFile };
  } catch (error) {
    throw new Failure(`Cannot read the key file: ${(error as Error).message}`, exitCode.usage);
  }
}

/**
 * Reads the API key, without the white space before and after it.
 *
 * @throws {Failure} when the API key is missing, or has a character that is not a visible ASCII character, such as a
 *   space. The error message never contains the API key
 */
function readKey(keyFile: string | undefined, env: Record<string, string | undefined>): string {
  const { text, name } = readKeyText(keyFile, env);
  const key = text.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new Failure(
    `The API key must be printable ASCII characters without white space: correct ${name}`,
    exitCode.usage,
  );
}

/**
 * Prints a message to the user: why a command must send a request again, and how many seconds the command waits before
 * the retry.
 */
export const sayWait = (output: Output) => (reason: string, seconds: number) =>
  output.say(`${reason}; retrying in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`);

/**
 * Creates the session object with which a command sends requests to the gateway. The API key comes from an environment
 * variable or a file. The API key never comes from a command-line argument, because all users of the machine can see
 * the arguments of a process.
 *
 * @throws {Failure} when there is no API key, or when the API key or the URL of the gateway is invalid
 */
export function openSession(
  { url, keyFile, json = false, fullIds = false }: SessionOptions,
  streams: Streams,
  env: Record<string, string | undefined>,
  args: readonly string[],
): Session {
  requireGatewayUrl(url);
  const output = createOutput(streams, { json, fullIds });
  const gateway = { url, key: readKey(keyFile, env), onWait: sayWait(output) };
  const connection = createConnection(gateway);
  return {
    client: createClient(connection),
    rest: createRestClient(connection),
    subscriber: createSubscriber(gateway),
    output,
    streams,
    args,
  };
}
