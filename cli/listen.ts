import { type Command, InvalidArgumentError, Option } from 'commander';
import { examples, webhookEvents } from './arguments.ts';
import { Failure } from './failure.ts';
import { companyIdOf, idsOf, locationIdOf } from './find.ts';
import { reasonOf } from './gateway-fetch.ts';
import {
  AcknowledgeMessagesDocument,
  CreateWebhookDocument,
  DeleteWebhookDocument,
  EventsOfKeyDocument,
  type MessageFieldsFragment,
  MessagesWaitingDocument,
  PullMessagesDocument,
  type WebhookEvent,
} from './generated/operations.ts';
import { followNotices, untilItSucceeds } from './notices.ts';
import type { Session } from './session.ts';
import { onFirstSignal } from './signals.ts';

/**
 * The time limit for the response of a webhook receiver, in milliseconds. The gateway applies the same limit of 15 s
 * when it posts webhook messages directly to a receiver.
 */
const receiverTimeoutMs = 15_000;
/**
 * The duration of the lease of each message that `pms listen` pulls, in seconds. The lease is the time in which `pms
 * listen` must acknowledge a webhook message. If the lease ends without an acknowledgement, the gateway offers the
 * message again.
 */
const leaseSeconds = 60;
/**
 * How long `pms listen` forwards the webhook messages that it has pulled with one request, in milliseconds. After
 * `forwardForMs` milliseconds, `pms listen` pulls webhook messages again. When only 30 seconds (twice
 * `receiverTimeoutMs`) remain to acknowledge the pulled messages, `pms listen` stops forwarding them. These 30 seconds
 * give the receiver time to respond to the last forwarded message before the lease of this message ends.
 */
const forwardForMs = leaseSeconds * 1000 - 2 * receiverTimeoutMs;
/** The maximum number of messages that `pms listen` pulls with one request. */
const messagesOfPull = 20;

const repeatable = { repeatable: true };

interface ListenOptions {
  forwardTo: string;
  events?: WebhookEvent[];
  company?: string;
  location?: string[];
}

/** Parses the URL to which `pms listen` forwards webhook messages. */
function receiverUrl(value: string): string {
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))
    throw new InvalidArgumentError('Must be an http or https URL.');
  return value;
}

/**
 * The result of forwarding a message: the HTTP status of the receiver's response, or the reason why there is no
 * response.
 */
interface ReceiverAnswer {
  status: number | null;
  error: string | null;
  durationMs: number;
}

const isAccepted = ({ status }: ReceiverAnswer) => status !== null && status >= 200 && status < 300;

/**
 * Posts a webhook message to the receiver, with the same headers that the gateway sends when it delivers the message
 * itself.
 */
async function forward(
  url: string,
  { headers, body }: MessageFieldsFragment,
  stopping: AbortSignal,
): Promise<ReceiverAnswer> {
  const startedAt = performance.now();
  const durationMs = () => Math.round(performance.now() - startedAt);
  const timeout = AbortSignal.timeout(receiverTimeoutMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: headers.map(({ name, value }): [string, string] => [name, value]),
      body,
      redirect: 'manual',
      signal: AbortSignal.any([stopping, timeout]),
    });
    await response.body?.cancel();
    return { status: response.status, error: null, durationMs: durationMs() };
  } catch (error) {
    const reason = timeout.aborted ? `no answer within ${receiverTimeoutMs / 1000} seconds` : reasonOf(error);
    return { status: null, error: reason, durationMs: durationMs() };
  }
}

/**
 * Forwards webhook messages to the receiver one by one, and prints a line for each message.
 *
 * @returns the identifiers of the webhook messages that the receiver accepted
 */
async function forwardAll(
  { output }: Session,
  url: string,
  messages: readonly MessageFieldsFragment[],
  stopping: AbortSignal,
): Promise<string[]> {
  const pulledAt = performance.now();
  const accepted: string[] = [];
  for (const message of messages) {
    if (stopping.aborted || performance.now() - pulledAt > forwardForMs) break;
    const { id, event } = message;
    const answer = await forward(url, message, stopping);
    const { status, error, durationMs } = answer;
    const at = new Date().toISOString();
    output.next({ at, id, event, ...answer }, `${at}  ${event}  ${status ?? error}  ${durationMs} ms`);
    if (isAccepted(answer)) accepted.push(id);
  }
  return accepted;
}

/** Forwards the messages of a webhook to the receiver until the user interrupts the command. */
async function forwardWhileListening(
  session: Session,
  url: string,
  webhookId: string,
  stopping: AbortSignal,
): Promise<void> {
  const { client, subscriber } = session;
  const patiently = <Result>(work: () => Promise<Result>) => untilItSucceeds(work, session, stopping);
  const notices = followNotices(
    session,
    (onConnected) =>
      subscriber.results(MessagesWaitingDocument, { webhookId }, { onConnected, signal: stopping }),
    stopping,
  );
  while (!stopping.aborted) {
    const variables = { webhookId, first: messagesOfPull, leaseSeconds };
    const pulled = await patiently(() => client.run(PullMessagesDocument, variables));
    const ids = await forwardAll(session, url, pulled.pullWebhookMessages, stopping);
    if (ids.length > 0)
      await patiently(() => client.run(AcknowledgeMessagesDocument, { webhookId, ids }, repeatable));
    if (pulled.pullWebhookMessages.length === 0) await notices.next();
  }
}

/** Deletes the webhook that this command has created. If the webhook no longer exists, the function does nothing. */
async function deleteWebhook({ client, output }: Session, id: string): Promise<void> {
  try {
    await client.run(DeleteWebhookDocument, { id }, repeatable);
    output.say(`The webhook ${id} is deleted.`);
  } catch (error) {
    if (error instanceof Failure && error.code === 'NOT_FOUND') return;
    output.say(`The webhook ${id} could not be deleted. Delete it with: pms webhooks delete ${id}`);
    throw error;
  }
}

/** Adds the command `listen`. */
export function addListenCommand(program: Command, open: () => Session): void {
  program
    .command('listen')
    .description(
      'forward webhook messages to a local receiver until Ctrl-C (MANAGE_WEBHOOKS, RECEIVE_WEBHOOKS)',
    )
    .addHelpText(
      'after',
      examples(
        'pms listen --forward-to http://127.0.0.1:4000/hook',
        'pms listen --forward-to http://127.0.0.1:4000/hook --events whitelist.created,parking.entered',
      ),
    )
    .addOption(
      new Option('--forward-to <url>', 'where to post the messages, such as http://127.0.0.1:4000/hook')
        .argParser(receiverUrl)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--events <event...>',
        'the events to forward, such as whitelist.created (default: all that the key may read)',
      ).argParser(webhookEvents),
    )
    .option(
      '--company <company>',
      'the id, slug or name of the company; may be omitted when the key has exactly one company',
    )
    .option('--location <location...>', 'only events of these locations: ids, slugs or names')
    .action(async ({ forwardTo, events, company, location }: ListenOptions) => {
      const session = open();
      const { client, output } = session;
      const stopping = new AbortController();
      const forget = onFirstSignal(() => {
        output.say('Stopping. A second Ctrl-C stops at once and does not delete the webhook.');
        stopping.abort();
      });
      try {
        const input = {
          delivery: 'PULL' as const,
          events: events ?? (await client.run(EventsOfKeyDocument, {}, repeatable)).viewer.webhookEvents,
          companyId: company === undefined ? undefined : await companyIdOf(client, company),
          locationIds: await idsOf(locationIdOf, client, location),
        };
        const { secret, webhook } = (await client.run(CreateWebhookDocument, { input })).createWebhook;
        try {
          output.say(
            `Forwarding to ${forwardTo}. Press Ctrl-C to stop and delete the webhook ${webhook.id}.`,
          );
          output.say(`Secret, for the receiver to verify messages: ${secret}`);
          await forwardWhileListening(session, forwardTo, webhook.id, stopping.signal);
        } finally {
          // after a failure, `abort` closes the subscription stream, because an open stream would keep the command
          // running
          stopping.abort();
          await deleteWebhook(session, webhook.id);
        }
      } finally {
        forget();
      }
    });
}
