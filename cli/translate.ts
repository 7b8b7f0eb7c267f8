import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { examples } from './arguments.ts';
import { curlCalls } from './curl.ts';
import { exitCode, Failure } from './failure.ts';
import { readRecording, type Recording } from './har.ts';
import type { Streams } from './output.ts';
import type { RestCall, Twin } from './rest-client.ts';
import type { Session } from './session.ts';
import { openSource, textOf } from './source.ts';

/** Returns a REST request as one line of text. */
const callText = ({ method, path }: RestCall) => `${method} ${path}`;

/**
 * Returns, as text, the GraphQL request that is equivalent to a REST request. The text contains the GraphQL document
 * and its variables, in the same form as in the GraphQL explorer.
 */
const twinText = (call: RestCall, { query, variables }: Twin) =>
  [`# ${callText(call)}`, query, '', '# Variables', JSON.stringify(variables, null, 2), ''].join('\n');

/**
 * Returns the text in which `pms` searches for REST requests to translate. If `source` is a curl command, the function
 * returns `source`. If `source` is not a curl command, it is the path of a file, or `-` for the standard input. For a
 * path or `-`, the function reads the text from the file or from the standard input.
 */
const readSource = async (source: string, streams: Streams) =>
  /^\s*curl\s/.test(source) ? source : text(textOf(openSource(source, streams)));

/**
 * Finds the REST requests in a text, and returns them without duplicates.
 *
 * @throws {Failure} when the text has no REST requests
 */
function callsOf(source: string): Recording {
  const { calls, others } = readRecording(source) ?? { calls: curlCalls(source), others: 0 };
  if (calls.length === 0)
    throw new Failure('The input is neither a curl line nor a HAR file with a REST request', exitCode.usage);
  const distinct = new Map(calls.map((call) => [JSON.stringify(call), call]));
  return { calls: [...distinct.values()], others: others + calls.length - distinct.size };
}

/**
 * Shows, for each REST request, the equivalent GraphQL request. If the gateway rejects a REST request, the function
 * shows the gateway's error message instead of a GraphQL request.
 *
 * @returns the number of REST requests that the gateway rejected
 */
async function showTwins({ rest, output }: Session, calls: readonly RestCall[]): Promise<number> {
  let refused = 0;
  for (const call of calls) {
    try {
      const twin = await rest.twinOf(call);
      output.next(twin, ...twinText(call, twin).split('\n'));
    } catch (error) {
      // If the gateway fails or the API key is invalid, the command stops, because the translation of the remaining
      // requests would fail, too.
      if (!(error instanceof Failure) || error.temporary || calls.length === 1) throw error;
      if (error.code === 'UNAUTHORIZED') throw error;
      refused += 1;
      output.say(`${callText(call)}\n  ${error.message}`);
    }
  }
  return refused;
}

/**
 * Adds the command `translate`.
 *
 * @param end a function that sets the exit code of the process; without a call of `end`, the exit code is 0
 */
export function addTranslateCommand(
  program: Command,
  open: () => Session,
  end: (code: number) => void,
): void {
  program
    .command('translate')
    .description('show the equivalent GraphQL request of a REST request, without executing it (any key)')
    .addHelpText(
      'after',
      examples(
        "pms translate 'curl http://127.0.0.1:3000/api/locations/status'",
        'pms --json translate requests.har',
      ),
    )
    .argument(
      '[source]',
      'a quoted curl line, or a file with curl lines or a HAR recording; - for the standard input',
      '-',
    )
    .action(async (source: string) => {
      const session = open();
      const { calls, others } = callsOf(await readSource(source, session.streams));
      const refused = await showTwins(session, calls);
      if (others > 0)
        session.output.say(`Skipped requests that are repeated or are not REST requests: ${others}`);
      if (refused > 0) end(exitCode.rejected);
    });
}
