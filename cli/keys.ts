import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  CreateKeyDocument,
  type KeyFieldsFragment,
  KeysDocument,
  type Permission,
  RevokeKeyDocument,
  RotateKeyDocument,
  ViewerDocument,
} from './generated/operations.ts';
import { itemsOf } from './pages.ts';
import type { Session } from './session.ts';

const columns = {
  id: 'id',
  name: 'name',
  hint: 'secret',
  permissions: 'permissions',
  companyIds: 'companies',
  locationIds: 'locations',
  hourlyLimit: 'an hour',
  burstLimit: 'a minute',
  lastUsedAt: 'last used',
  expiresAt: 'expires',
  revokedAt: 'revoked',
};

/** Reads a whole number from the command line. */
export function wholeNumber(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError('Not a whole number.');
  return Number(value);
}

/** Shows a key with its new secret, which cannot be shown again. */
function showIssued({ output }: Session, { secret, apiKey }: { secret: string; apiKey: KeyFieldsFragment }) {
  output.one({ secret, ...apiKey }, { ...columns, hint: 'hint', secret: 'secret' });
  output.say('The secret is shown only now: keep it where it is safe.');
}

interface CreateOptions {
  name: string;
  permission: Permission[];
  company?: string[];
  location?: string[];
  hourlyLimit?: number;
  burstLimit?: number;
  expiresAt?: string;
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

  const keys = program.command('keys').description('issue, list, rotate and revoke keys (ADMIN)');
  keys
    .command('list')
    .description('list the keys that the key administers')
    .action(async () => {
      const { client, output } = open();
      const all: KeyFieldsFragment[] = [];
      const repeatable = { repeatable: true };
      const fetchPage = async (after: string | null) =>
        (await client.run(KeysDocument, { after }, repeatable)).apiKeys;
      for await (const key of itemsOf(fetchPage)) all.push(key);
      output.many(all, columns);
    });
  keys
    .command('create')
    .description('issue a key and show its secret')
    .requiredOption('--name <name>', 'what people call it')
    .requiredOption('--permission <permission...>', 'what it may do, such as READ_WHITELIST')
    .option('--company <id...>', 'companies to tie it to, with all their locations')
    .option('--location <id...>', 'locations to tie it to one by one')
    .addOption(new Option('--hourly-limit <requests>', 'requests in an hour').argParser(wholeNumber))
    .addOption(new Option('--burst-limit <requests>', 'requests in a minute').argParser(wholeNumber))
    .option('--expires-at <time>', 'when it ends: ISO 8601, such as 2027-01-31T00:00:00Z')
    .action(async ({ permission, company, location, ...rest }: CreateOptions) => {
      const session = open();
      const input = { ...rest, permissions: permission, companyIds: company, locationIds: location };
      showIssued(session, (await session.client.run(CreateKeyDocument, { input })).createApiKey);
    });
  keys
    .command('rotate')
    .description('issue a new secret for a key; the old one works for a while')
    .argument('<id>', 'the key')
    .addOption(
      new Option('--grace-seconds <seconds>', 'how long the old secret works').argParser(wholeNumber),
    )
    .action(async (id: string, { graceSeconds }: { graceSeconds?: number }) => {
      const session = open();
      showIssued(session, (await session.client.run(RotateKeyDocument, { id, graceSeconds })).rotateApiKey);
    });
  keys
    .command('revoke')
    .description('end a key at once and for good')
    .argument('<id>', 'the key')
    .action(async (id: string) => {
      const { client, output } = open();
      output.one((await client.run(RevokeKeyDocument, { id }, { repeatable: true })).revokeApiKey, columns);
    });
}
