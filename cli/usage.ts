import type { Command } from 'commander';
import { examples } from './arguments.ts';
import { exitCode, Failure } from './failure.ts';
import { keyIdOf } from './find.ts';
import {
  DeprecationsOfDocument,
  OwnDeprecationsDocument,
  OwnUsageDocument,
  UsageOfDocument,
} from './generated/operations.ts';
import type { Session } from './session.ts';

const usageColumns = {
  hour: 'hour',
  operation: 'operation',
  surface: 'surface',
  requests: 'requests',
  refused: 'refused',
  errors: 'errors',
} as const;

const deprecationColumns = {
  operation: 'operation',
  requests: 'requests',
  'last used': 'lastUsedAt',
  removed: 'removedAt',
  replacement: 'replacement',
} as const;

const repeatable = { repeatable: true };

/**
 * Reads the usage of one API key by the id of this API key. If `id` is `undefined`, the function reads the usage of the
 * API key that the command itself uses.
 */
async function readUsage({ client }: Session, id: string | undefined, range: { from?: string; to?: string }) {
  const key =
    id === undefined
      ? (await client.run(OwnUsageDocument, range, repeatable)).viewer
      : (await client.run(UsageOfDocument, { id, ...range }, repeatable)).apiKey;
  return key.usage;
}

async function readDeprecations({ client }: Session, id: string | undefined) {
  const key =
    id === undefined
      ? (await client.run(OwnDeprecationsDocument, {}, repeatable)).viewer
      : (await client.run(DeprecationsOfDocument, { id }, repeatable)).apiKey;
  return key.deprecations;
}

interface UsageOptions {
  from?: string;
  to?: string;
  errors?: boolean;
  deprecated?: boolean;
}

/**
 * Adds the command `usage`.
 *
 * @param end a function that sets the exit code of the process; without a call of `end`, the exit code is 0
 */
export function addUsageCommand(program: Command, open: () => Session, end: (code: number) => void): void {
  program
    .command('usage')
    .description('show the requests, rejections and errors of a key by hour and operation')
    .addHelpText('after', examples('pms usage', "pms usage 'gate 1' --errors", 'pms usage --deprecated'))
    .argument('[key]', 'the id or name of the key, which requires ADMIN (default: the current key)')
    .option('--from <time>', 'the start of the period, ISO 8601 (default: 24 hours before the end)')
    .option('--to <time>', 'end, ISO 8601 (default: now)')
    .option('--errors', 'only operations that had errors')
    .option(
      '--deprecated',
      'only deprecated operations used in the last 31 days; exit code 3 when there are any',
    )
    .action(async (named: string | undefined, options: UsageOptions) => {
      const { errors: onlyErrors, deprecated, ...range } = options;
      if (deprecated && (range.from ?? range.to) !== undefined) {
        throw new Failure('--deprecated cannot be combined with --from or --to', exitCode.usage);
      }
      const session = open();
      const { client, output } = session;
      const id = named === undefined ? undefined : await keyIdOf(client, named);
      if (!deprecated) {
        const usage = await readUsage(session, id, range);
        return output.many(onlyErrors ? usage.filter(({ errors }) => errors > 0) : usage, usageColumns);
      }
      const deprecations = await readDeprecations(session, id);
      output.many(deprecations, deprecationColumns);
      if (deprecations.length > 0) end(exitCode.deprecated);
    });
}
