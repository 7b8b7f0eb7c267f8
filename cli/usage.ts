import type { Command } from 'commander';
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

/** Reads the use of a key; of the session's own when no key is named. */
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
 * Adds `usage`.
 *
 * @param end takes the exit code when it is not that of success
 */
export function addUsageCommand(program: Command, open: () => Session, end: (code: number) => void): void {
  program
    .command('usage')
    .description('show requests, refusals and errors of a key by hour and operation')
    .argument('[key]', 'its id or name (ADMIN); the key that is used when left out')
    .option('--from <time>', 'from when on, ISO 8601; 24 hours before the end when left out')
    .option('--to <time>', 'until when, ISO 8601; now when left out')
    .option('--errors', 'only operations that had errors')
    .option('--deprecated', 'only what will be removed, of the last 31 days; exit code 3 when there is any')
    .action(async (named: string | undefined, options: UsageOptions) => {
      const { errors: onlyErrors, deprecated, ...range } = options;
      if (deprecated && (range.from ?? range.to) !== undefined) {
        throw new Failure('--deprecated goes without --from and --to', exitCode.usage);
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
