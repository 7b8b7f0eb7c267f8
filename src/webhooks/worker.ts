import { setTimeout as sleep } from 'node:timers/promises';
import { type Span, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import type { Sql } from '../database/types.ts';
import { activeTracer, inSpan } from '../observability/spans.ts';
import { LookupNotStartedError } from './look-ups.ts';
import { claimDue, type ClaimedDelivery, release, retryDays } from './outbox.ts';
import type { WebhookSecretBox } from './secret-box.ts';
import type { WebhookTarget } from './sender.ts';
import { type AttemptOutcome, type AttemptResult, isAccepted, storeOutcome } from './attempt-outcome.ts';
import { signedMessage } from './signed-message.ts';

/** Sends the deliveries of the outbox. */
export interface WebhookWorker {
  /**
   * Stops the worker. Attempts in progress are aborted. Another process repeats them, or this process after its next
   * start.
   */
  close(): Promise<void>;
}

/** How often the outbox is read when no attempt ends, in milliseconds. */
const pollIntervalMs = 1_000;
/**
 * The pause after a claim, in milliseconds. After the pause, the next claim can fill the slots of several finished
 * attempts.
 */
const claimPauseMs = 50;
/** The time limit of a whole attempt in milliseconds, from the DNS look-up of the host to the response. */
const attemptTimeoutMs = 15_000;
/**
 * The pause before a delivery whose attempt could not start is claimed again, in seconds. Other DNS look-ups of the
 * company end in the meantime.
 */
const notStartedPauseSeconds = 5;

/**
 * The result of a pull message that has expired. A worker claims messages of pull webhooks only after they have
 * expired.
 */
const neverAcknowledged: AttemptResult = {
  httpStatus: null,
  error: `No reader acknowledged the message within ${retryDays} days`,
  durationMs: 0,
};

/**
 * Starts the webhook worker of a process. All workers share the outbox, and only one worker at a time holds a delivery.
 * `outbox.ts` has the limits of concurrent attempts.
 */
export function createWebhookWorker(options: {
  prisma: PrismaClient;
  sql: Sql;
  log: Logger;
  target: WebhookTarget;
  secrets: WebhookSecretBox;
  /** The worker calls this function for each attempt after the result was stored. */
  onAttempt: (attempt: { outcome: AttemptOutcome; durationMs: number }) => void;
}): WebhookWorker {
  const { prisma, sql, log, target, secrets, onAttempt } = options;
  const closing = new AbortController();
  const inFlight = new Map<string, { delivery: ClaimedDelivery; ended: Promise<void> }>();
  let claiming: Promise<void> | undefined;
  let claimAgain = false;

  /**
   * Makes an attempt. The result is undefined when the attempt could not start, because the company has too many DNS
   * look-ups in progress.
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

  /** Makes an attempt within a span that belongs to the trace of the change. */
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
      const outcome = await storeOutcome(prisma, delivery, result);
      onAttempt({ outcome, durationMs: result.durationMs });
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
          // The outbox is read again, because a slot became free and another delivery may start.
          const ended = deliver(delivery).then(poll);
          inFlight.set(delivery.id, { delivery, ended });
        }
        await sleep(claimPauseMs);
      } while (claimAgain && !closing.signal.aborted);
    } catch (error) {
      log.warn({ err: error }, 'The due webhook deliveries could not be read; retrying at the next poll');
    }
  }

  /** Claims due deliveries. Claims run one at a time. A call during a claim starts one more claim afterwards. */
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
