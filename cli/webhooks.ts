import { type Command, Option } from 'commander';
import { wholeNumber } from './arguments.ts';
import { companyIdOf, idsOf, locationIdOf, webhookIdOf } from './find.ts';
import {
  CreateWebhookDocument,
  DeleteWebhookDocument,
  DeliveriesDocument,
  type DeliveriesQuery,
  type DeliveryFieldsFragment,
  RecoverWebhookDocument,
  RedeliverWebhookDocument,
  RotateWebhookDocument,
  TestWebhookDocument,
  UpdateWebhookDocument,
  type WebhookDeliveryStatus,
  type WebhookEvent,
  type WebhookFieldsFragment,
  WebhooksDocument,
} from './generated/operations.ts';
import { allItemsOf, firstItemsOf } from './pages.ts';
import type { Session } from './session.ts';

/** How a webhook is, in words. */
const stateOf = ({ enabled, disabledAt, failingSince }: WebhookFieldsFragment) => {
  if (!enabled) return disabledAt ? `disabled ${disabledAt}` : 'disabled';
  return failingSince ? `failing since ${failingSince}` : 'enabled';
};

const columns = {
  id: 'id',
  url: 'url',
  events: 'events',
  state: stateOf,
  company: 'companyId',
  locations: 'locationIds',
} as const;

const deliveryColumns = { id: 'id', event: 'type', state: 'status', made: 'createdAt' } as const;

type Delivery = NonNullable<DeliveriesQuery['webhook']>['deliveries']['nodes'][number];

/** What the receiver said last. */
const lastAnswer = ({ attempts }: Delivery) => {
  const last = attempts.at(-1);
  return last && (last.error ?? last.httpStatus);
};

const repeatable = { repeatable: true };

/** Shows a webhook with its new secret, which cannot be shown again. */
function showIssued(
  { output }: Session,
  { secret, webhook }: { secret: string; webhook: WebhookFieldsFragment },
) {
  output.one({ secret, ...webhook }, { secret: 'secret', ...columns });
  output.say('The secret is shown only now: give it to the receiver, which verifies messages with it.');
}

interface WebhookOptions {
  event?: WebhookEvent[];
  location?: string[];
}

/** Adds `webhooks list`, `create`, `update`, `delete` and `rotate`. */
function addChanges(webhooks: Command, open: () => Session): void {
  webhooks
    .command('list')
    .description('list the webhooks that the key reaches')
    .action(async () => {
      const { client, output } = open();
      const all = await allItemsOf(
        async (after) => (await client.run(WebhooksDocument, { after }, repeatable)).webhooks,
      );
      output.many(all, { id: 'id', url: 'url', state: stateOf });
    });
  webhooks
    .command('create')
    .description('create a webhook and show its secret')
    .argument('<url>', 'an https address that receives the messages')
    .requiredOption('--event <event...>', 'what to hear of, such as PARKING_ENTERED')
    .option('--company <company>', 'its id, slug or name; may be left out when the key has exactly one')
    .option('--location <location...>', 'hear only of these: ids, slugs or names')
    .action(async (url: string, options: WebhookOptions & { event: WebhookEvent[]; company?: string }) => {
      const session = open();
      const { client } = session;
      const { event: events, company, location } = options;
      const input = {
        url,
        events,
        companyId: company === undefined ? undefined : await companyIdOf(client, company),
        locationIds: await idsOf(locationIdOf, client, location),
      };
      showIssued(session, (await client.run(CreateWebhookDocument, { input })).createWebhook);
    });
  webhooks
    .command('update')
    .description('change what is named of a webhook; the rest stays as it is')
    .argument('<webhook>', 'its id or URL')
    .option('--url <url>', 'where to send messages')
    .option('--event <event...>', 'what to hear of')
    .option('--location <location...>', 'hear only of these: ids, slugs or names')
    .option('--all-locations', 'hear of all locations again')
    .option('--enable', 'send messages again')
    .option('--disable', 'send no messages')
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
    .argument('<webhook>', 'its id or URL')
    .action(async (webhook: string) => {
      const { client, output } = open();
      const id = await webhookIdOf(client, webhook);
      output.one((await client.run(DeleteWebhookDocument, { id })).deleteWebhook, columns);
    });
  webhooks
    .command('rotate')
    .description('issue a new secret for a webhook; the old one signs too for a while')
    .argument('<webhook>', 'its id or URL')
    .addOption(
      new Option('--grace-seconds <seconds>', 'how long the old secret signs').argParser(wholeNumber),
    )
    .action(async (webhook: string, { graceSeconds }: { graceSeconds?: number }) => {
      const session = open();
      const id = await webhookIdOf(session.client, webhook);
      const { rotateWebhookSecret } = await session.client.run(RotateWebhookDocument, { id, graceSeconds });
      showIssued(session, rotateWebhookSecret);
    });
}

/** Adds `webhooks test`, `deliveries`, `redeliver` and `recover`. */
function addDeliveries(webhooks: Command, open: () => Session): void {
  webhooks
    .command('test')
    .description('send a message without content, to see whether the receiver accepts it')
    .argument('<webhook>', 'its id or URL')
    .action(async (webhook: string) => {
      const { client, output } = open();
      const id = await webhookIdOf(client, webhook);
      const delivery: DeliveryFieldsFragment = (await client.run(TestWebhookDocument, { id })).testWebhook;
      output.one(delivery, deliveryColumns);
      output.say(`What the receiver answers: pms webhooks deliveries ${id}`);
    });
  webhooks
    .command('deliveries')
    .description('list the messages of a webhook and what the receiver answered')
    .argument('<webhook>', 'its id or URL')
    .addOption(
      new Option('--status <status>', 'only those in this state').choices([
        'pending',
        'delivered',
        'failed',
        'cancelled',
      ]),
    )
    .addOption(new Option('--limit <deliveries>', 'how many').argParser(wholeNumber).default(20))
    .action(async (webhook: string, options: { status?: string; limit: number }) => {
      const { client, output } = open();
      const id = await webhookIdOf(client, webhook);
      const status = options.status?.toUpperCase() as WebhookDeliveryStatus | undefined;
      const { items, hasMore } = await firstItemsOf(options.limit, async (first, after) => {
        const variables = { id, status, first, after };
        return (await client.run(DeliveriesDocument, variables, repeatable)).webhook.deliveries;
      });
      output.many(items, {
        ...deliveryColumns,
        attempts: ({ attempts }) => attempts.length,
        'last answer': lastAnswer,
      });
      if (hasMore) output.say(`There are more than these ${options.limit}: say --limit.`);
    });
  webhooks
    .command('redeliver')
    .description('send one message again, under the same identifier, whether or not it was accepted')
    .argument('<delivery>', 'its id, as `webhooks deliveries` lists it')
    .action(async (deliveryId: string) => {
      const { client, output } = open();
      const delivery: DeliveryFieldsFragment = (await client.run(RedeliverWebhookDocument, { deliveryId }))
        .redeliverWebhook;
      output.one(delivery, deliveryColumns);
    });
  webhooks
    .command('recover')
    .description('send again what the receiver did not accept in some time')
    .argument('<webhook>', 'its id or URL')
    .requiredOption('--since <time>', 'from when on, ISO 8601')
    .option('--until <time>', 'until when, ISO 8601; now when left out')
    .action(async (webhook: string, { since, until }: { since: string; until?: string }) => {
      const { client, output } = open();
      const id = await webhookIdOf(client, webhook);
      const { recoverWebhook } = await client.run(RecoverWebhookDocument, { id, since, until });
      output.one(recoverWebhook, { 'sent again': 'deliveries' });
    });
}

/** Adds `webhooks`. */
export function addWebhookCommands(program: Command, open: () => Session): void {
  const webhooks = program.command('webhooks').description('manage where changes are sent (MANAGE_WEBHOOKS)');
  addChanges(webhooks, open);
  addDeliveries(webhooks, open);
}
