import type { Command } from 'commander';
import { examples, webhookEvent } from './arguments.ts';
import { Failure } from './failure.ts';
import { webhookIdOf } from './find.ts';
import {
  type DeliveryFieldsFragment,
  TestWebhookDocument,
  type WebhookEvent,
  WebhooksDocument,
} from './generated/operations.ts';
import { allItemsOf } from './pages.ts';
import type { Session } from './session.ts';
import { deliveryColumns } from './webhook-deliveries.ts';

/**
 * Returns the webhook with pull delivery that subscribes to a given event, for example the webhook that `pms listen`
 * has created.
 *
 * @throws {Failure} when no webhook matches, or when several webhooks match. If several webhooks match, the error
 *   message lists the ids of these webhooks
 */
async function listeningWebhook({ client }: Session, event: WebhookEvent): Promise<string> {
  const webhooks = await allItemsOf(
    async (after) => (await client.run(WebhooksDocument, { after }, { repeatable: true })).webhooks,
  );
  const listening = webhooks.filter(
    ({ delivery, enabled, events }) => delivery === 'PULL' && enabled && events.includes(event),
  );
  const [only, ...others] = listening;
  if (!only)
    throw new Failure(
      `No webhook with pull delivery subscribes to ${event}: start \`pms listen\`, or name a webhook with --webhook`,
    );
  if (others.length > 0)
    throw new Failure(
      [
        `${listening.length} webhooks with pull delivery subscribe to ${event}; name one with --webhook:`,
        ...listening.map(({ id }) => `  ${id}`),
      ].join('\n'),
    );
  return only.id;
}

/** Adds the command `trigger`. */
export function addTriggerCommand(program: Command, open: () => Session): void {
  program
    .command('trigger')
    .description('send a sample message of an event, without changing data (MANAGE_WEBHOOKS)')
    .addHelpText(
      'after',
      examples(
        'pms trigger whitelist.created',
        'pms trigger parking.entered --webhook https://hooks.example.com/parking',
      ),
    )
    .argument('<event>', 'the event, such as whitelist.created', webhookEvent)
    .option(
      '--webhook <webhook>',
      'the id or URL of the webhook (default: the only webhook with pull delivery for the event, for example from `pms listen`)',
    )
    .action(async (event: WebhookEvent, { webhook }: { webhook?: string }) => {
      const session = open();
      const { client, output } = session;
      const id =
        webhook === undefined ? await listeningWebhook(session, event) : await webhookIdOf(client, webhook);
      const sample: DeliveryFieldsFragment = (await client.run(TestWebhookDocument, { id, event }))
        .testWebhook;
      output.one(sample, deliveryColumns);
    });
}
