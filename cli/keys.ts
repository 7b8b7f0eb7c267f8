import { type Command, Option } from 'commander';
import { examples, wholeNumber } from './arguments.ts';
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
  'requests an hour': 'hourlyLimit',
  'requests a minute': 'burstLimit',
  'last used': 'lastUsedAt',
  expires: 'expiresAt',
  revoked: 'revokedAt',
} as const;

/** Shows an API key with its new secret. The gateway cannot show the secret again later. */
function showIssued({ output }: Session, { secret, apiKey }: { secret: string; apiKey: KeyFieldsFragment }) {
  output.one({ secret, ...apiKey }, { ...columns, secret: 'secret' });
  output.say('The secret is shown only once: store it safely now.');
}

/** The options that the commands `keys create` and `keys update` share. */
interface KeyOptions {
  company?: string[];
  location?: string[];
  hourlyLimit?: number;
  burstLimit?: number;
  expiresAt?: string;
}

/** Adds the options in `KeyOptions` to the command `keys create` or `keys update`. */
const withKeyOptions = (command: Command) =>
  command
    .option(
      '--company <company...>',
      'limit the key to these companies with all their locations: ids, slugs or names',
    )
    .option('--location <location...>', 'limit the key to these locations: ids, slugs or names')
    .addOption(
      new Option('--hourly-limit <requests>', 'the maximum number of requests in an hour').argParser(
        wholeNumber,
      ),
    )
    .addOption(
      new Option('--burst-limit <requests>', 'the maximum number of requests in a minute').argParser(
        wholeNumber,
      ),
    );

/**
 * Converts the options of `keys create` or `keys update` to a GraphQL input. The function replaces the names of
 * companies and locations with their ids.
 */
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

/** Adds the commands `keys` and `whoami`. */
export function addKeyCommands(program: Command, open: () => Session): void {
  program
    .command('whoami')
    .description('show the current key')
    .addHelpText('after', examples('pms whoami', 'pms --json whoami | jq .permissions'))
    .action(async () => {
      const { client, output } = open();
      output.one((await client.run(ViewerDocument, {}, { repeatable: true })).viewer, columns);
    });

  const keys = program
    .command('keys')
    .description('issue, list, change, rotate and revoke keys (ADMIN)')
    .addHelpText(
      'after',
      examples(
        'pms keys list',
        "pms keys create --name 'gate 1' --permission READ_WHITELIST --location marina-gate",
      ),
    );
  keys
    .command('list')
    .description("list the keys in the key's scope")
    .addHelpText('after', examples('pms keys list', 'pms --full-ids keys list'))
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
    .addHelpText(
      'after',
      examples(
        "pms keys create --name 'gate 1' --permission READ_WHITELIST WRITE_ACTIVITY --location marina-gate",
        'pms keys create --name operator --permission ADMIN --unrestricted',
      ),
    )
    .requiredOption('--name <name>', 'its name')
    .requiredOption('--permission <permission...>', 'the permissions of the key, such as READ_WHITELIST')
    .option('--expires-at <time>', 'when the key expires: ISO 8601, such as 2027-01-31T00:00:00Z')
    .option('--unrestricted', "issue an operator's key with access to everything; requires an operator's key")
    .action(
      async (options: KeyOptions & { name: string; permission: Permission[]; unrestricted?: boolean }) => {
        const session = open();
        const { name, permission: permissions } = options;
        const input = { ...(await inputOf(session.client, options)), name, permissions };
        showIssued(session, (await session.client.run(CreateKeyDocument, { input })).createApiKey);
      },
    );
  withKeyOptions(keys.command('update'))
    .description('change the given fields of a key')
    .addHelpText(
      'after',
      examples("pms keys update 'gate 1' --hourly-limit 500", "pms keys update 'gate 1' --expires-at never"),
    )
    .argument('<key>', 'the id or name of the key')
    .option('--name <name>', 'its name')
    .option(
      '--permission <permission...>',
      'the new permissions of the key, which replace all former permissions',
    )
    .option('--expires-at <time>', 'when the key expires: ISO 8601, or `never`')
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
    .description('issue a new secret for a key; the old secret keeps working for the grace period')
    .addHelpText('after', examples("pms keys rotate 'gate 1' --grace-seconds 3600"))
    .argument('<key>', 'the id or name of the key')
    .addOption(
      new Option('--grace-seconds <seconds>', 'how long the old secret keeps working').argParser(wholeNumber),
    )
    .action(async (key: string, { graceSeconds }: { graceSeconds?: number }) => {
      const session = open();
      const id = await keyIdOf(session.client, key);
      showIssued(session, (await session.client.run(RotateKeyDocument, { id, graceSeconds })).rotateApiKey);
    });
  keys
    .command('revoke')
    .description('revoke a key immediately; this cannot be undone')
    .addHelpText('after', examples("pms keys revoke 'gate 1'"))
    .argument('<key>', 'the id or name of the key')
    .action(async (key: string) => {
      const { client, output } = open();
      const id = await keyIdOf(client, key);
      output.one((await client.run(RevokeKeyDocument, { id }, { repeatable: true })).revokeApiKey, columns);
    });
}
