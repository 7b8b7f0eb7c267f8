import { type Command, Option } from 'commander';
import { choicesOf, examples, positive } from './arguments.ts';
import { webhookIdOf } from './find.ts';
import {
  DeliveriesDocument,
  type DeliveriesQuery,
  type DeliveryFieldsFragment,
  RecoverWebhookDocument,
  RedeliverWebhookDocument,
  TestWebhookDocument,
  WebhookDeliveryStatus,
} from './generated/operations.ts';
import { firstItemsOf } from './pages.ts';
import type { Session } from './session.ts';

/** The columns of a table of webhook deliveries. */
export const deliveryColumns = { id: 'id', event: 'type', state: 'status', made: 'createdAt' } as const;

type Delivery = NonNullable<DeliveriesQuery['webhook']>['deliveries']['nodes'][number];

/**
 * Returns the result of the last delivery attempt: the error or the HTTP status. For a message that a client has pulled
 * and acknowledged, the function returns `acknowledged`, because such a message has no HTTP status.
 */
const lastAnswer = ({ attempts }: Delivery) => {
  const last = attempts.at(-1);
  return last && (last.error ?? last.httpStatus ?? 'acknowledged');
};

/** Adds the commands `webhooks test`, `deliveries`, `redeliver` and `recover`. */
export function addDeliveryCommands(webhooks: Command, open: () => Session): void {
  webhooks
    .command('test')
    .description('send a test message, to check whether the receiver accepts it')
    .addHelpText('after', examples('pms webhooks test https://hooks.example.com/parking'))
    .argument('<webhook>', 'the id or URL of the webhook')
    .action(async (webhook: string) => {
      const { client, output } = open();
      const id = await webhookIdOf(client, webhook);
      const delivery: DeliveryFieldsFragment = (await client.run(TestWebhookDocument, { id })).testWebhook;
      output.one(delivery, deliveryColumns);
      output.say(`To see the response of the receiver: pms webhooks deliveries ${id}`);
    });
  webhooks
    .command('deliveries')
    .description('list the messages of a webhook with the last response of the receiver')
    .addHelpText(
      'after',
      examples('pms webhooks deliveries https://hooks.example.com/parking --status failed --limit 50'),
    )
    .argument('<webhook>', 'the id or URL of the webhook')
    .addOption(
      new Option('--status <status>', 'only messages in this state').choices(
        choicesOf(WebhookDeliveryStatus),
      ),
    )
    .addOption(new Option('--limit <deliveries>', 'how many').argParser(positive).default(20))
    .action(async (webhook: string, options: { status?: string; limit: number }) => {
      const { client, output } = open();
      const id = await webhookIdOf(client, webhook);
      const status = options.status?.toUpperCase() as WebhookDeliveryStatus | undefined;
      const { items, hasMore } = await firstItemsOf(options.limit, async (first, after) => {
        const variables = { id, status, first, after };
        return (await client.run(DeliveriesDocument, variables, { repeatable: true })).webhook.deliveries;
      });
      // The table of webhook deliveries shows complete identifiers, because the command `redeliver` accepts only
      // complete identifiers. `redeliver` cannot find a delivery by the last characters of its identifier, because the
      // gateway has no list of the deliveries of all webhooks.
      output.many(
        items,
        {
          ...deliveryColumns,
          attempts: ({ attempts }) => attempts.length,
          'last answer': lastAnswer,
        },
        { fullIds: true },
      );
      if (hasMore)
        output.say(`Only the first ${options.limit} deliveries are shown: raise --limit to see more.`);
    });
  webhooks
    .command('redeliver')
    .description('send a message again with the same identifier, even if the receiver already accepted it')
    .addHelpText('after', examples('pms webhooks redeliver 019a5d0c-7f3e-7b21-8c44-2f9d6e1a0b37'))
    .argument('<delivery>', 'the id of the delivery, from `pms webhooks deliveries`')
    .action(async (deliveryId: string) => {
      const { client, output } = open();
      const delivery: DeliveryFieldsFragment = (await client.run(RedeliverWebhookDocument, { deliveryId }))
        .redeliverWebhook;
      output.one(delivery, deliveryColumns);
    });
  webhooks
    .command('recover')
    .description('send again the messages of a time range that the receiver did not accept')
    .addHelpText(
      'after',
      examples('pms webhooks recover https://hooks.example.com/parking --since 2027-01-31T08:00:00Z'),
    )
    .argument('<webhook>', 'the id or URL of the webhook')
    .requiredOption('--since <time>', 'start, ISO 8601')
    .option('--until <time>', 'end, ISO 8601 (default: now)')
    .action(async (webhook: string, { since, until }: { since: string; until?: string }) => {
      const { client, output } = open();
      const id = await webhookIdOf(client, webhook);
      const { recoverWebhook } = await client.run(RecoverWebhookDocument, { id, since, until });
      output.one(recoverWebhook, { 'sent again': 'deliveries' });
    });
}
