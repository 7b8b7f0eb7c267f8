import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { examples } from './arguments.ts';
import { curlCalls } from './curl.ts';
import { exitCode, Failure } from './failure.ts';
import { readRecording, type Recording } from './har.ts';
import type { Streams } from './output.ts';
import type { RestCall, Twin } from './rest-client.ts';
import type { Session } from './session.ts';
import { openSource } from './source.ts';

/** Returns a REST call as one line of text. */
const callText = ({ method, path }: RestCall) => `${method} ${path}`;

/**
 * Returns the equivalent GraphQL request (the twin) as text. The text has the document and its variables in the form of
 * the explorer.
 */
const twinText = (call: RestCall, { query, variables }: Twin) =>
  [`# ${callText(call)}`, query, '', '# Variables', JSON.stringify(variables, null, 2), ''].join('\n');

/** Reads the input text. The source is a curl line, the name of a file, or the standard input. */
const readSource = async (source: string, streams: Streams) =>
  /^\s*curl\s/.test(source) ? source : text(openSource(source, streams).stream);

/**
 * Returns the calls in a text without duplicates.
 *
 * @throws {Failure} when the text has no calls
 */
function callsOf(source: string): Recording {
  const { calls, others } = readRecording(source) ?? { calls: curlCalls(source), others: 0 };
  if (calls.length === 0)
    throw new Failure('The input is neither a curl line nor a HAR file with a REST request', exitCode.usage);
  const distinct = new Map(calls.map((call) => [JSON.stringify(call), call]));
  return { calls: [...distinct.values()], others: others + calls.length - distinct.size };
}

/**
 * Shows the equivalent GraphQL requests of REST calls, and an error for each call that the gateway rejects.
 *
 * @returns the number of rejected calls
 */
async function showTwins({ rest, output }: Session, calls: readonly RestCall[]): Promise<number> {
  let refused = 0;
  for (const call of calls) {
    try {
      const twin = await rest.twinOf(call);
      output.next(twin, ...twinText(call, twin).split('\n'));
    } catch (error) {
      // Other calls are not tried after a temporary failure or with an invalid key, because they would fail, too.
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
 * @param end sets an exit code other than 0
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
