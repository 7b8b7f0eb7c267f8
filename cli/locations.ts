import type { Command } from 'commander';
import { companyIdOf } from './find.ts';
import { LocationsDocument } from './generated/operations.ts';
import { allItemsOf } from './pages.ts';
import type { Session } from './session.ts';

/** Adds `locations`. */
export function addLocationCommands(program: Command, open: () => Session): void {
  const locations = program.command('locations').description('show locations (READ_LOCATIONS)');
  locations
    .command('list')
    .description('list the locations that the key reaches')
    .option('--company <company>', 'only those of a company: its id, slug or name')
    .action(async ({ company }: { company?: string }) => {
      const { client, output } = open();
      const companyId = company === undefined ? undefined : await companyIdOf(client, company);
      const all = await allItemsOf(
        async (after) =>
          (await client.run(LocationsDocument, { companyId, after }, { repeatable: true })).locations,
      );
      output.many(all, { id: 'id', slug: 'slug', name: 'name', capacity: 'capacity' });
    });
}
