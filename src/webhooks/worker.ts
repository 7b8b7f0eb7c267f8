import { setTimeout as sleep } from 'node:timers/promises';
import { type Span, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import type { Sql } from '../database/types.ts';
import { activeTracer, inSpan } from '../observability/spans.ts';
import { LookupNotStartedError } from './look-ups.ts';
import { cancelPending, claimDue, type ClaimedDelivery, release, retryDays } from './outbox.ts';
import type { WebhookSecretBox } from './secret-box.ts';
import type { WebhookTarget } from './sender.ts';
import { type AttemptOutcome, type AttemptResult, isAccepted, storeOutcome } from './attempt-outcome.ts';
import { signedMessage } from './signed-message.ts';

/** Sends the webhook messages whose deliveries are pending in the database. */
export interface WebhookWorker {
  /**
   * Stops the worker and aborts its delivery attempts in progress. If other gateway processes are running, their
   * workers repeat the aborted delivery attempts. If no other gateway process is running, the next gateway process that
   * starts repeats the aborted delivery attempts.
   */
  close(): Promise<void>;
}

/**
 * The interval at which the worker looks for due deliveries, in milliseconds. The worker also looks for due deliveries
 * after each delivery attempt.
 */
const pollIntervalMs = 1_000;
/**
 * How long the worker waits before it claims webhook deliveries again, in milliseconds. During the pause after a claim
 * of deliveries, several delivery attempts can end. After the pause between two claims, the worker can claim several
 * deliveries together, and start their delivery attempts at the same time.
 */
const claimPauseMs = 50;
/**
 * The time limit for one attempt to deliver a webhook message, in milliseconds. The time limit of a delivery attempt
 * includes the DNS look-up of the host and the response of the receiver.
 */
const attemptTimeoutMs = 15_000;
/**
 * How long the worker waits before it tries again to send a webhook message whose delivery attempt could not start, in
 * seconds. A delivery attempt cannot start when too many DNS look-ups for webhooks of the same company are in progress.
 */
const notStartedPauseSeconds = 5;

/**
 * When a message of a pull webhook expires, the gateway stores this result for the delivery of the message. For a pull
 * webhook, a worker claims only expired messages.
 */
const neverAcknowledged: AttemptResult = {
  httpStatus: null,
  error: `No reader acknowledged the message within ${retryDays} days`,
  durationMs: 0,
};

/**
 * Starts the webhook worker of a gateway process. The workers of all processes share the pending deliveries. A worker
 * reserves a delivery for a limited time (a lease), so that no other worker attempts the delivery at the same time. The
 * file `statements.ts` defines the limits on concurrent delivery attempts.
 */
export function createWebhookWorker(options: {
  prisma: PrismaClient;
  sql: Sql;
  log: Logger;
  target: WebhookTarget;
  secrets: WebhookSecretBox;
  /** The function that the worker calls after it has stored the result of a delivery attempt. */
  onAttempt: (attempt: { outcome: AttemptOutcome; durationMs: number }) => void;
}): WebhookWorker {
  const { prisma, sql, log, target, secrets, onAttempt } = options;
  const closing = new AbortController();
  const inFlight = new Map<string, { delivery: ClaimedDelivery; ended: Promise<void> }>();
  let claiming: Promise<void> | undefined;
  let claimAgain = false;

  /**
   * Makes one attempt to deliver a webhook message. If the company has too many DNS look-ups in progress, the delivery
   * attempt does not start, and the result is `undefined`.
   */
  async function attempt(delivery: ClaimedDelivery, url: string): Promise<AttemptResult | undefined> {
    const startedAt = performance.now();
    const durationMs = () => Math.round(performance.now() - startedAt);
    const timeout = AbortSignal.timeout(attemptTimeoutMs);
    try {
      const message = signedMessage(delivery, secrets);
      const signal = AbortSignal.any([closing.signal, timeout]);
      const httpStatus = await target.post(url, delivery.owner, message, signal);
      return { httpStatus, error: null, durationMs: durationMs() };
    } catch (cause) {
      if (cause instanceof LookupNotStartedError) return undefined;
      const error = timeout.aborted
        ? `No answer within ${attemptTimeoutMs / 1000} seconds`
        : (cause as Error).message;
      return { httpStatus: null, error, durationMs: durationMs() };
    }
  }

  /**
   * Makes one attempt to deliver a webhook message within an OpenTelemetry span. If the change that caused the webhook
   * message has a trace, the span becomes a part of this trace.
   */
  async function tracedAttempt(delivery: ClaimedDelivery, url: string): Promise<AttemptResult | undefined> {
    const tracer = activeTracer();
    if (!tracer) return attempt(delivery, url);
    const { id, webhookId, type, traceparent } = delivery;
    const attributes = {
      'messaging.message.id': id,
      'messaging.destination.name': webhookId,
      'server.address': new URL(url).hostname,
    };
    const options = { kind: SpanKind.CLIENT, attributes };
    const work = async (span: Span) => {
      const result = await attempt(delivery, url);
      if (!result) return result;
      if (result.httpStatus !== null) span.setAttribute('http.response.status_code', result.httpStatus);
      if (!isAccepted(result)) span.setStatus({ code: SpanStatusCode.ERROR });
      return result;
    };
    return inSpan(tracer, `webhook ${type}`, options, work, { traceparent });
  }

  /** Cancels the pending deliveries of a webhook that the gateway disabled after a delivery attempt. */
  async function cancelWaiting(webhookId: string): Promise<void> {
    try {
      await cancelPending(sql, webhookId, closing.signal);
    } catch (error) {
      log.warn(
        { err: error, webhookId },
        'The waiting messages of a disabled webhook could not be cancelled; the retention job will cancel them',
      );
    }
  }

  async function deliver(delivery: ClaimedDelivery): Promise<void> {
    const { id, webhookId, url } = delivery;
    try {
      const result = url === null ? neverAcknowledged : await tracedAttempt(delivery, url);
      if (closing.signal.aborted && !(result && isAccepted(result))) return await release(sql, delivery);
      if (!result) {
        log.info({ deliveryId: id, webhookId }, 'A webhook message waits for other lookups of its company');
        return await release(sql, delivery, notStartedPauseSeconds);
      }
      if (!isAccepted(result))
        log.info(
          { deliveryId: id, webhookId, ...result },
          'The receiver of a webhook did not accept a message',
        );
      const { outcome, hasDisabled } = await storeOutcome(prisma, delivery, result);
      onAttempt({ outcome, durationMs: result.durationMs });
      if (hasDisabled) await cancelWaiting(webhookId);
    } catch (error) {
      log.warn(
        { err: error, deliveryId: id, webhookId },
        'The result of a webhook attempt could not be stored; the message will be sent again',
      );
    } finally {
      inFlight.delete(id);
    }
  }

  async function claimAndStart(): Promise<void> {
    try {
      do {
        claimAgain = false;
        const claimed = await claimDue(
          sql,
          [...inFlight.values()].map(({ delivery }) => delivery),
        );
        for (const delivery of claimed) {
          // The number of concurrent delivery attempts is limited. After a delivery attempt has ended, the worker
          // therefore claims due deliveries again.
          const ended = deliver(delivery).then(poll);
          inFlight.set(delivery.id, { delivery, ended });
        }
        await sleep(claimPauseMs);
      } while (claimAgain && !closing.signal.aborted);
    } catch (error) {
      log.warn({ err: error }, 'The due webhook deliveries could not be read; retrying at the next poll');
    }
  }

  /**
   * Claims due deliveries. If the worker is already claiming deliveries, it claims deliveries again after the current
   * claim has ended.
   */
  function poll(): void {
    claimAgain = true;
    if (closing.signal.aborted) return;
    claiming ??= claimAndStart().finally(() => {
      claiming = undefined;
    });
  }

  const timer = setInterval(poll, pollIntervalMs);
  timer.unref();

  return {
    async close() {
      clearInterval(timer);
      closing.abort();
      await claiming;
      await Promise.all([...inFlight.values()].map(({ ended }) => ended));
    },
  };
}
