import type { Command } from 'commander';
import { examples, requireChange } from './arguments.ts';
import { companyIdOf } from './find.ts';
import {
  CompaniesDocument,
  RegisterCompanyDocument,
  UpdateCompanyDocument,
  type UpdateCompanyInput,
} from './generated/operations.ts';
import { allItemsOf } from './pages.ts';
import type { Session } from './session.ts';

const columns = { id: 'id', slug: 'slug', name: 'name', address: 'address' } as const;

/** Adds options for the optional fields of a company to the command `create` or `update`. */
const withDetails = (command: Command) =>
  command
    .option('--external-company-id <id>', 'your own identifier of the company')
    .option('--description <text>', 'a description of the company')
    .option('--phone <number>', 'the telephone number of the company')
    .option('--email <address>', 'the e-mail address of the company')
    .option('--website <url>', 'its website')
    .option('--logo <url>', 'the URL of the logo of the company');

/**
 * The options of the command `companies create`. Each option of the command has the same name as the corresponding
 * field in the GraphQL input.
 */
type CreateOptions = UpdateCompanyInput & { name: string; slug: string; address: string };

/** Adds the command `companies`. */
export function addCompanyCommands(program: Command, open: () => Session): void {
  const companies = program
    .command('companies')
    .description('show, register and change companies (READ_COMPANIES, REGISTER_COMPANIES, WRITE_COMPANIES)')
    .addHelpText(
      'after',
      examples('pms companies list', "pms companies update example-parking --phone '+971 4 000 0000'"),
    );
  companies
    .command('list')
    .description("list the companies in the key's scope")
    .addHelpText('after', examples('pms companies list'))
    .action(async () => {
      const { client, output } = open();
      const all = await allItemsOf(
        async (after) => (await client.run(CompaniesDocument, { after }, { repeatable: true })).companies,
      );
      output.many(all, { id: 'id', slug: 'slug', name: 'name' });
    });
  withDetails(
    companies
      .command('create')
      .description('register a company')
      .addHelpText(
        'after',
        examples(
          "pms companies create --name 'Example Parking' --slug example-parking --address 'Dubai Marina'",
        ),
      )
      .requiredOption('--name <name>', 'its name')
      .requiredOption(
        '--slug <slug>',
        'the short name of the company in addresses, such as example-parking; it cannot be changed later',
      )
      .requiredOption('--address <address>', 'the street address of the company'),
  ).action(async (input: CreateOptions) => {
    const { client, output } = open();
    output.one((await client.run(RegisterCompanyDocument, { input })).registerCompany, columns);
  });
  withDetails(
    companies
      .command('update')
      .description('change the given fields of a company')
      .addHelpText('after', examples('pms companies update example-parking --email office@example.com'))
      .argument('<company>', 'the id, slug or name of the company')
      .option('--name <name>', 'its name')
      .option('--address <address>', 'the street address of the company'),
  ).action(async (company: string, input: UpdateCompanyInput) => {
    requireChange(input);
    const { client, output } = open();
    const id = await companyIdOf(client, company);
    output.one((await client.run(UpdateCompanyDocument, { id, input })).updateCompany, columns);
  });
}
