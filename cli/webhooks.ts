import { type Command, Option } from 'commander';
import { examples, webhookEvents, wholeNumber } from './arguments.ts';
import { exitCode, Failure } from './failure.ts';
import { companyIdOf, idsOf, locationIdOf, webhookIdOf } from './find.ts';
import {
  CreateWebhookDocument,
  DeleteWebhookDocument,
  RotateWebhookDocument,
  UpdateWebhookDocument,
  type WebhookEvent,
  type WebhookFieldsFragment,
  WebhooksDocument,
} from './generated/operations.ts';
import { allItemsOf } from './pages.ts';
import type { Session } from './session.ts';
import { addDeliveryCommands } from './webhook-deliveries.ts';

/** Returns the state of a webhook as text: whether the webhook is enabled, disabled or failing. */
const stateOf = ({ enabled, disabledAt, failingSince }: WebhookFieldsFragment) => {
  if (!enabled) return disabledAt ? `disabled ${disabledAt}` : 'disabled';
  return failingSince ? `failing since ${failingSince}` : 'enabled';
};

const columns = {
  id: 'id',
  delivery: 'delivery',
  url: 'url',
  events: 'events',
  state: stateOf,
  company: 'companyId',
  locations: 'locationIds',
} as const;

const repeatable = { repeatable: true };

/**
 * Shows a webhook with its new secret. The gateway returns the secret only once, so the command cannot show it again
 * later.
 */
function showIssued(
  { output }: Session,
  { secret, webhook }: { secret: string; webhook: WebhookFieldsFragment },
) {
  output.one({ secret, ...webhook }, { secret: 'secret', ...columns });
  output.say('The secret is shown only once. Give it now to the receiver, which verifies messages with it.');
}

interface WebhookOptions {
  event?: WebhookEvent[];
  location?: string[];
}

interface CreateOptions extends WebhookOptions {
  event: WebhookEvent[];
  company?: string;
  pull?: boolean;
}

/** Adds the commands `webhooks list`, `create`, `update`, `delete` and `rotate`. */
function addChanges(webhooks: Command, open: () => Session): void {
  webhooks
    .command('list')
    .description("list the webhooks in the key's scope")
    .addHelpText('after', examples('pms webhooks list'))
    .action(async () => {
      const { client, output } = open();
      const all = await allItemsOf(
        async (after) => (await client.run(WebhooksDocument, { after }, repeatable)).webhooks,
      );
      output.many(all, { id: 'id', url: ({ url }) => url ?? 'none: pull delivery', state: stateOf });
    });
  webhooks
    .command('create')
    .description('create a webhook and show its secret')
    .addHelpText(
      'after',
      examples(
        'pms webhooks create https://hooks.example.com/parking --event parking.entered parking.exited',
        'pms webhooks create --pull --event whitelist.created --location marina-gate',
      ),
    )
    .argument('[url]', 'the https URL of the receiver')
    .option(
      '--pull',
      'use pull delivery: a client fetches the messages, so the webhook needs no URL (RECEIVE_WEBHOOKS)',
    )
    .addOption(
      new Option('--event <event...>', 'the events to send, such as parking.entered')
        .argParser(webhookEvents)
        .makeOptionMandatory(),
    )
    .option(
      '--company <company>',
      'the id, slug or name of the company; may be omitted when the key has exactly one company',
    )
    .option('--location <location...>', 'only events of these locations: ids, slugs or names')
    .action(async (url: string | undefined, options: CreateOptions) => {
      const { event: events, company, location, pull } = options;
      if ((url !== undefined) === (pull ?? false)) throw new Failure('Give a URL or --pull', exitCode.usage);
      const session = open();
      const { client } = session;
      const input = {
        delivery: pull ? ('PULL' as const) : ('PUSH' as const),
        url,
        events,
        companyId: company === undefined ? undefined : await companyIdOf(client, company),
        locationIds: await idsOf(locationIdOf, client, location),
      };
      showIssued(session, (await client.run(CreateWebhookDocument, { input })).createWebhook);
    });
  webhooks
    .command('update')
    .description('change the given fields of a webhook')
    .addHelpText(
      'after',
      examples(
        'pms webhooks update https://hooks.example.com/parking --event location.full',
        'pms webhooks update https://hooks.example.com/parking --enable',
      ),
    )
    .argument('<webhook>', 'the id or URL of the webhook')
    .option('--url <url>', 'the URL to which messages are sent')
    .addOption(new Option('--event <event...>', 'the events to send').argParser(webhookEvents))
    .option('--location <location...>', 'only events of these locations: ids, slugs or names')
    .addOption(new Option('--all-locations', 'send the events of all locations again').conflicts('location'))
    .addOption(new Option('--enable', 'resume sending messages').conflicts('disable'))
    .option('--disable', 'stop sending messages')
    .action(
      async (
        webhook: string,
        options: WebhookOptions & {
          url?: string;
          allLocations?: boolean;
          enable?: boolean;
          disable?: boolean;
        },
      ) => {
        const { client, output } = open();
        const { url, event: events, location, allLocations, enable, disable } = options;
        const input = {
          url,
          events,
          locationIds: allLocations ? [] : await idsOf(locationIdOf, client, location),
          enabled: enable ? true : disable ? false : undefined,
        };
        const id = await webhookIdOf(client, webhook);
        output.one((await client.run(UpdateWebhookDocument, { id, input })).updateWebhook, columns);
      },
    );
  webhooks
    .command('delete')
    .description('delete a webhook and its deliveries')
    .addHelpText('after', examples('pms webhooks delete https://hooks.example.com/parking'))
    .argument('<webhook>', 'the id or URL of the webhook')
    .action(async (webhook: string) => {
      const { client, output } = open();
      const id = await webhookIdOf(client, webhook);
      output.one((await client.run(DeleteWebhookDocument, { id })).deleteWebhook, columns);
    });
  webhooks
    .command('rotate')
    .description(
      'issue a new secret for a webhook; messages are also signed with the old secret for the grace period',
    )
    .addHelpText(
      'after',
      examples('pms webhooks rotate https://hooks.example.com/parking --grace-seconds 3600'),
    )
    .argument('<webhook>', 'the id or URL of the webhook')
    .addOption(
      new Option(
        '--grace-seconds <seconds>',
        'how long messages are also signed with the old secret',
      ).argParser(wholeNumber),
    )
    .action(async (webhook: string, { graceSeconds }: { graceSeconds?: number }) => {
      const session = open();
      const id = await webhookIdOf(session.client, webhook);
      const { rotateWebhookSecret } = await session.client.run(RotateWebhookDocument, { id, graceSeconds });
      showIssued(session, rotateWebhookSecret);
    });
}

/** Adds the command `webhooks`. */
export function addWebhookCommands(program: Command, open: () => Session): void {
  const webhooks = program
    .command('webhooks')
    .description('manage webhooks and their messages (MANAGE_WEBHOOKS)')
    .addHelpText(
      'after',
      examples(
        'pms webhooks create https://hooks.example.com/parking --event parking.entered',
        'pms webhooks deliveries https://hooks.example.com/parking --status failed',
      ),
    );
  addChanges(webhooks, open);
  addDeliveryCommands(webhooks, open);
}
