import { type Command, Option } from 'commander';
import { wholeNumber } from './arguments.ts';
import type { Client } from './client.ts';
import { companyIdOf, idsOf, keyIdOf, locationIdOf } from './find.ts';
import {
  CreateKeyDocument,
  type KeyFieldsFragment,
  KeysDocument,
  type Permission,
  RevokeKeyDocument,
  RotateKeyDocument,
  UpdateKeyDocument,
  ViewerDocument,
} from './generated/operations.ts';
import { allItemsOf } from './pages.ts';
import type { Session } from './session.ts';

const columns = {
  id: 'id',
  name: 'name',
  secret: 'hint',
  permissions: 'permissions',
  companies: 'companyIds',
  locations: 'locationIds',
  'an hour': 'hourlyLimit',
  'a minute': 'burstLimit',
  'last used': 'lastUsedAt',
  expires: 'expiresAt',
  revoked: 'revokedAt',
} as const;

/** Shows a key with its new secret, which cannot be shown again. */
function showIssued({ output }: Session, { secret, apiKey }: { secret: string; apiKey: KeyFieldsFragment }) {
  output.one({ secret, ...apiKey }, { ...columns, secret: 'secret' });
  output.say('The secret is shown only now: keep it where it is safe.');
}

/** What can be said of a key, new or not. */
interface KeyOptions {
  company?: string[];
  location?: string[];
  hourlyLimit?: number;
  burstLimit?: number;
  expiresAt?: string;
}

/** Adds the options that `create` and `update` have in common. */
const withKeyOptions = (command: Command) =>
  command
    .option('--company <company...>', 'companies to tie it to, with all their locations: ids, slugs or names')
    .option('--location <location...>', 'locations to tie it to one by one: ids, slugs or names')
    .addOption(new Option('--hourly-limit <requests>', 'requests in an hour').argParser(wholeNumber))
    .addOption(new Option('--burst-limit <requests>', 'requests in a minute').argParser(wholeNumber));

/** The input that the options of a command make, with ids in place of names. */
async function inputOf<Rest extends object>(
  client: Client,
  { permission, company, location, ...rest }: KeyOptions & { permission?: Permission[] } & Rest,
) {
  return {
    ...rest,
    permissions: permission,
    companyIds: await idsOf(companyIdOf, client, company),
    locationIds: await idsOf(locationIdOf, client, location),
  };
}

/** Adds `keys` and `whoami`. */
export function addKeyCommands(program: Command, open: () => Session): void {
  program
    .command('whoami')
    .description('show the key that is used')
    .action(async () => {
      const { client, output } = open();
      output.one((await client.run(ViewerDocument, {}, { repeatable: true })).viewer, columns);
    });

  const keys = program.command('keys').description('issue, list, change, rotate and revoke keys (ADMIN)');
  keys
    .command('list')
    .description('list the keys that the key administers')
    .action(async () => {
      const { client, output } = open();
      const all = await allItemsOf(
        async (after) => (await client.run(KeysDocument, { after }, { repeatable: true })).apiKeys,
      );
      output.many(all, {
        id: 'id',
        name: ({ name, revokedAt }) => (revokedAt ? `${name} (revoked)` : name),
        permissions: 'permissions',
        'last used': 'lastUsedAt',
      });
    });
  withKeyOptions(keys.command('create'))
    .description('issue a key and show its secret')
    .requiredOption('--name <name>', 'what people call it')
    .requiredOption('--permission <permission...>', 'what it may do, such as READ_WHITELIST')
    .option('--expires-at <time>', 'when it ends: ISO 8601, such as 2027-01-31T00:00:00Z')
    .option('--unrestricted', "make it an operator's key, which reaches everything; only for an operator")
    .action(
      async (options: KeyOptions & { name: string; permission: Permission[]; unrestricted?: boolean }) => {
        const session = open();
        const { name, permission: permissions } = options;
        const input = { ...(await inputOf(session.client, options)), name, permissions };
        showIssued(session, (await session.client.run(CreateKeyDocument, { input })).createApiKey);
      },
    );
  withKeyOptions(keys.command('update'))
    .description('change what is named of a key; the rest stays as it is')
    .argument('<key>', 'its id or name')
    .option('--name <name>', 'what people call it')
    .option('--permission <permission...>', 'what it may do, in place of what it might')
    .option('--expires-at <time>', 'when it ends: ISO 8601, or `never`')
    .action(async (key: string, options: KeyOptions & { name?: string; permission?: Permission[] }) => {
      const { client, output } = open();
      const { expiresAt } = options;
      const input = {
        ...(await inputOf(client, options)),
        ...(expiresAt !== undefined && { expiresAt: expiresAt === 'never' ? null : expiresAt }),
      };
      const id = await keyIdOf(client, key);
      output.one((await client.run(UpdateKeyDocument, { id, input })).updateApiKey, columns);
    });
  keys
    .command('rotate')
    .description('issue a new secret for a key; the old one works for a while')
    .argument('<key>', 'its id or name')
    .addOption(
      new Option('--grace-seconds <seconds>', 'how long the old secret works').argParser(wholeNumber),
    )
    .action(async (key: string, { graceSeconds }: { graceSeconds?: number }) => {
      const session = open();
      const id = await keyIdOf(session.client, key);
      showIssued(session, (await session.client.run(RotateKeyDocument, { id, graceSeconds })).rotateApiKey);
    });
  keys
    .command('revoke')
    .description('end a key at once and for good')
    .argument('<key>', 'its id or name')
    .action(async (key: string) => {
      const { client, output } = open();
      const id = await keyIdOf(client, key);
      output.one((await client.run(RevokeKeyDocument, { id }, { repeatable: true })).revokeApiKey, columns);
    });
}
