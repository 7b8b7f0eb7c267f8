import type { Command } from 'commander';
import { CompaniesDocument } from './generated/operations.ts';
import { allItemsOf } from './pages.ts';
import type { Session } from './session.ts';

/** Adds `companies`. */
export function addCompanyCommands(program: Command, open: () => Session): void {
  const companies = program.command('companies').description('show companies (READ_COMPANIES)');
  companies
    .command('list')
    .description('list the companies that the key reaches')
    .action(async () => {
      const { client, output } = open();
      const all = await allItemsOf(
        async (after) => (await client.run(CompaniesDocument, { after }, { repeatable: true })).companies,
      );
      output.many(all, { id: 'id', slug: 'slug', name: 'name' });
    });
}
