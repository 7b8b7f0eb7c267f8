import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { curlCalls } from './curl.ts';
import { exitCode, Failure } from './failure.ts';
import { readRecording, type Recording } from './har.ts';
import type { Streams } from './output.ts';
import type { RestCall, Twin } from './rest-client.ts';
import type { Session } from './session.ts';
import { openSource } from './source.ts';

/** A call as one line. */
const callText = ({ method, path }: RestCall) => `${method} ${path}`;

/** A twin for people: the document and its variables, as they are typed into the explorer. */
const twinText = (call: RestCall, { query, variables }: Twin) =>
  [`# ${callText(call)}`, query, '', '# Variables', JSON.stringify(variables, null, 2), ''].join('\n');

/** The text that a command works on: a curl line itself, a file, or the standard input. */
const readSource = async (source: string, streams: Streams) =>
  /^\s*curl\s/.test(source) ? source : text(openSource(source, streams).stream);

/** The calls of a text, each once. @throws {Failure} when it has none */
function callsOf(source: string): Recording {
  const { calls, others } = readRecording(source) ?? { calls: curlCalls(source), others: 0 };
  if (calls.length === 0)
    throw new Failure('Neither a curl line nor a HAR file with a REST request', exitCode.usage);
  const distinct = new Map(calls.map((call) => [JSON.stringify(call), call]));
  return { calls: [...distinct.values()], others: others + calls.length - distinct.size };
}

/**
 * Shows the twins of calls. What the gateway refuses is said, and the others are shown.
 *
 * @returns how many were refused
 */
async function showTwins({ rest, output }: Session, calls: readonly RestCall[]): Promise<number> {
  let refused = 0;
  for (const call of calls) {
    try {
      const twin = await rest.twinOf(call);
      output.next(twin, twinText(call, twin));
    } catch (error) {
      // The first may fail for a reason that all share, such as the key.
      if (!(error instanceof Failure) || error.temporary || calls.length === 1) throw error;
      if (error.code === 'UNAUTHORIZED') throw error;
      refused += 1;
      output.say(`${callText(call)}\n  ${error.message}`);
    }
  }
  return refused;
}

/**
 * Adds `translate`.
 *
 * @param end takes the exit code when it is not that of success
 */
export function addTranslateCommand(
  program: Command,
  open: () => Session,
  end: (code: number) => void,
): void {
  program
    .command('translate')
    .description('show the GraphQL request that serves a REST request, which is not executed (any key)')
    .argument(
      '[source]',
      'a curl line in quotes, or a file: curl lines or a HAR file; - for the standard input',
      '-',
    )
    .action(async (source: string) => {
      const session = open();
      const { calls, others } = callsOf(await readSource(source, session.streams));
      const refused = await showTwins(session, calls);
      if (others > 0)
        session.output.say(`Left out: ${others} that are repetitions or not of the REST surface`);
      if (refused > 0) end(exitCode.rejected);
    });
}
