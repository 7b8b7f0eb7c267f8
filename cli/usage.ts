import type { Command } from 'commander';
import { OwnUsageDocument, UsageOfDocument } from './generated/operations.ts';
import type { Session } from './session.ts';

const columns = {
  hour: 'hour',
  operation: 'operation',
  surface: 'surface',
  requests: 'requests',
  refused: 'refused',
  errors: 'errors',
};

/** Adds `usage`. */
export function addUsageCommand(program: Command, open: () => Session): void {
  program
    .command('usage')
    .description('show requests and refusals of a key by hour and operation')
    .argument('[id]', 'the key (ADMIN); the one that is used when left out')
    .option('--from <time>', 'from when on, ISO 8601; 24 hours before the end when left out')
    .option('--to <time>', 'until when, ISO 8601; now when left out')
    .action(async (id: string | undefined, range: { from?: string; to?: string }) => {
      const { client, output } = open();
      const repeatable = { repeatable: true };
      const { usage } =
        id === undefined
          ? (await client.run(OwnUsageDocument, range, repeatable)).viewer
          : (await client.run(UsageOfDocument, { id, ...range }, repeatable)).apiKey;
      output.many(usage, columns);
    });
}
