import { setTimeout as sleep } from 'node:timers/promises';
import { type Span, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import type { Sql } from '../database/types.ts';
import { activeTracer, inSpan } from '../telemetry/spans.ts';
import { claimDue, type ClaimedDelivery, release } from './outbox.ts';
import { messageBody } from './payload.ts';
import type { WebhookSecretBox } from './secret-box.ts';
import type { WebhookTarget } from './sender.ts';
import { type AttemptOutcome, type AttemptResult, isAccepted, settleAttempt } from './settle.ts';
import { signedHeaders } from './signature.ts';

/** Sends the deliveries of the outbox. */
export interface WebhookWorker {
  /** Stops: attempts in flight are aborted, and made again by another process or after the next start. */
  close(): Promise<void>;
}

/** How often the outbox is read when no attempt ends. */
const pollIntervalMs = 1_000;
/** After a claim the next one waits so long, so that it takes the places of several attempts that ended. */
const claimPauseMs = 50;
/** The whole attempt, from the look-up of the name to the answer. */
const attemptTimeoutMs = 15_000;

/**
 * Starts to send. Every process has a worker; they share the outbox, and a delivery is claimed by one of them at a
 * time. How many attempts are made at once is bounded by the shares in `outbox.ts`.
 */
export function createWebhookWorker(options: {
  prisma: PrismaClient;
  sql: Sql;
  log: Logger;
  target: WebhookTarget;
  secrets: WebhookSecretBox;
  /** Is told of every attempt whose result was stored. */
  onAttempt: (attempt: { outcome: AttemptOutcome; durationMs: number }) => void;
}): WebhookWorker {
  const { prisma, sql, log, target, secrets, onAttempt } = options;
  const closing = new AbortController();
  const inFlight = new Map<string, { delivery: ClaimedDelivery; ended: Promise<void> }>();
  let claiming: Promise<void> | undefined;
  let claimAgain = false;

  async function attempt(delivery: ClaimedDelivery): Promise<AttemptResult> {
    const { id, webhookId, claimedAt } = delivery;
    const startedAt = performance.now();
    const durationMs = () => Math.round(performance.now() - startedAt);
    const timeout = AbortSignal.timeout(attemptTimeoutMs);
    try {
      const sealed = [delivery.secret, ...(delivery.formerSecret ? [delivery.formerSecret] : [])];
      const signing = sealed.map((secret) => secrets.open(webhookId, secret));
      const body = messageBody(delivery);
      const headers = {
        'Content-Type': 'application/json',
        'User-Agent': 'parking-gateway',
        ...signedHeaders({ id, body }, signing, claimedAt),
      };
      const signal = AbortSignal.any([closing.signal, timeout]);
      const httpStatus = await target.post(delivery.url, { headers, body }, signal);
      return { httpStatus, error: null, durationMs: durationMs() };
    } catch (cause) {
      const error = timeout.aborted
        ? `No answer within ${attemptTimeoutMs / 1000} seconds`
        : (cause as Error).message;
      return { httpStatus: null, error, durationMs: durationMs() };
    }
  }

  /** The attempt within a span that belongs to the trace of the change. */
  async function tracedAttempt(delivery: ClaimedDelivery): Promise<AttemptResult> {
    const tracer = activeTracer();
    if (!tracer) return attempt(delivery);
    const { id, webhookId, type, url, traceparent } = delivery;
    const attributes = {
      'messaging.message.id': id,
      'messaging.destination.name': webhookId,
      'server.address': new URL(url).hostname,
    };
    const options = { kind: SpanKind.CLIENT, attributes };
    const work = async (span: Span) => {
      const result = await attempt(delivery);
      if (result.httpStatus !== null) span.setAttribute('http.response.status_code', result.httpStatus);
      if (!isAccepted(result)) span.setStatus({ code: SpanStatusCode.ERROR });
      return result;
    };
    return inSpan(tracer, `webhook ${type}`, options, work, { traceparent });
  }

  async function deliver(delivery: ClaimedDelivery): Promise<void> {
    const { id, webhookId } = delivery;
    try {
      const result = await tracedAttempt(delivery);
      if (closing.signal.aborted && !isAccepted(result)) return await release(sql, delivery);
      if (!isAccepted(result))
        log.info({ deliveryId: id, webhookId, ...result }, 'A webhook did not accept a message');
      const outcome = await settleAttempt(prisma, delivery, result);
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
          // A place became free: others may be due.
          const ended = deliver(delivery).then(poll);
          inFlight.set(delivery.id, { delivery, ended });
        }
        await sleep(claimPauseMs);
      } while (claimAgain && !closing.signal.aborted);
    } catch (error) {
      log.warn(
        { err: error },
        'The webhook deliveries that are due could not be read; the next poll tries again',
      );
    }
  }

  /** Claims what is due; one claim at a time, and one more after it when this is called meanwhile. */
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
