import type { WebhookDeliveryKind } from '../../prisma/generated/client/enums.ts';
import { namedStatement } from '../database/named-statement.ts';
import { changesOfMessage } from './message-changes.ts';

// The SQL statements that claim, release and count webhook deliveries. src/webhooks/outbox.ts describes the table of
// pending deliveries.

/**
 * For how many seconds a worker reserves a delivery when it claims the delivery (the worker's lease). After
 * `workerLeaseSeconds` seconds, another worker may claim the delivery. The lease must be longer than any delivery
 * attempt can take.
 */
const workerLeaseSeconds = 60;

/**
 * The maximum number of concurrent delivery attempts in one process. Each attempt to deliver a webhook message needs a
 * network connection and some memory.
 */
const maxInFlight = 200;
/**
 * The maximum number of concurrent delivery attempts for one company. Because of this limit, unresponsive receivers of
 * one company do not delay other companies.
 */
export const maxInFlightPerCompany = 20;
/**
 * The maximum number of concurrent delivery attempts for one webhook. Because of this limit, one slow receiver cannot
 * use all concurrent attempts of its company.
 */
const maxInFlightPerWebhook = 5;
/**
 * The maximum number of concurrent delivery attempts for failing webhooks. Failing webhooks may use only half of all
 * concurrent delivery attempts (`maxInFlight`), so that they do not block the other webhooks.
 */
const maxFailingInFlight = maxInFlight / 2;
export const maxFailingInFlightPerCompany = maxInFlightPerCompany / 2;

/**
 * Returns the last part of an SQL statement that claims webhook deliveries. The first part of the SQL statement must
 * define the common table expression `locked`, which selects the deliveries to claim. The worker, or the client that
 * pulls messages, reserves each claimed delivery for a limited time (a lease). The SQL statement returns the deliveries
 * that it claimed, oldest first, with the data for an attempt to deliver each message.
 *
 * @param leaseSeconds for how many seconds the deliveries are reserved: a number or an SQL expression
 * @param options.further additional result columns. `further` maps the name of each additional column to an SQL
 *   expression, which can use the columns of the common table expression `locked`
 * @param options.claimedAt the SQL expression for the new value of `claimedAt`
 */
function claimLocked(
  leaseSeconds: string | number,
  { further = {}, claimedAt = 'now()' }: { further?: Record<string, string>; claimedAt?: string } = {},
): string {
  const returned = Object.entries(further).map(([name, expression]) => `, ${expression} AS "${name}"`);
  const selected = Object.keys(further).map((name) => `, c."${name}"`);
  return `claimed AS (
      UPDATE "WebhookDelivery" d
      SET "claimedAt" = ${claimedAt}, "nextAttemptAt" = now() + make_interval(secs => ${leaseSeconds})
      FROM locked WHERE d.id = locked.id
      RETURNING d.*${returned.join('')}
    )
    SELECT c.id, c."webhookId", c.type, coalesce(c."claimedAt", now()) AS "claimedAt", c."nextAttemptAt" AS "leaseEndsAt"${selected.join('')},
      coalesce(w."companyId", '') AS owner, w."failingSince" IS NOT NULL AS failing,
      w.url, w.secret, CASE WHEN w."formerSecretEndsAt" > now() THEN w."formerSecret" END AS "formerSecret",
      r.action, r."companyId", r."locationId", r."targetId", r."createdAt", r.traceparent,
      ${changesOfMessage('c.type')} AS changes
    FROM claimed c JOIN "Webhook" w ON w.id = c."webhookId" JOIN "AuditRecord" r ON r.id = c."eventId"
    ORDER BY c."createdAt", c.id`;
}

/**
 * Returns SQL that selects the due deliveries of all push webhooks, or of all pull webhooks. For each webhook, the SQL
 * selects the deliveries with the earliest due times. The SQL limits the number of selected deliveries, because this
 * worker may have at most `maxInFlightPerWebhook` delivery attempts of one webhook in progress. The SQL reads the
 * webhooks from the common table expression `enabled`. The parameter `$id` contains the ids of the deliveries that this
 * worker is already sending.
 */
const dueOf = (kind: WebhookDeliveryKind, dueAt: 'nextAttemptAt' | 'retryUntil') => `
      SELECT next.id, next."nextAttemptAt", e.owner, e.failing
      FROM enabled e
      CROSS JOIN LATERAL (
        SELECT d.id, d."nextAttemptAt" FROM "WebhookDelivery" d
        WHERE d."webhookId" = e.id AND d.status = 'PENDING' AND d."${dueAt}" <= now() AND d."nextAttemptAt" <= now()
          AND d.id <> ALL ($id::text[])
        ORDER BY d."${dueAt}" LIMIT greatest(${maxInFlightPerWebhook} - e."inFlight", 0)
      ) next
      WHERE e.delivery = '${kind}'`;

/**
 * The SQL expression for the value that `claimedAt` gets when a worker claims the delivery `d`. When a worker claims a
 * message of a pull webhook because the message has expired, the worker does not change `claimedAt`. For a pull
 * webhook, `claimedAt` is the time at which a client pulled the message.
 */
const claimedByWorker = `
        CASE WHEN (SELECT w.delivery FROM "Webhook" w WHERE w.id = d."webhookId") = 'PULL' THEN d."claimedAt" ELSE now() END`;

/**
 * Claims due deliveries. A delivery of a push webhook is due when the gateway must post its message. A delivery of a
 * pull webhook is due when its message has expired without an acknowledgement. The SQL statement claims only a limited
 * number of deliveries for each company. The SQL statement claims the deliveries of failing webhooks after all other
 * deliveries. To share the attempts fairly between the companies, the SQL statement always chooses the next delivery
 * from the company with the fewest deliveries in progress. Deliveries that the statement has already chosen count as
 * deliveries in progress. The SQL statement claims the deliveries of one company in the order of their due times. The
 * SQL parameters describe the delivery attempts that this worker has in progress. The SQL statement locks only the
 * deliveries that it will claim, and checks again whether the locked deliveries are due.
 */
export const claimDueStatement = namedStatement(
  'webhook-claim-due',
  `
    WITH busy AS (
      SELECT * FROM unnest($id::text[], $webhookId::text[], $owner::text[], $failing::boolean[]) AS b(id, "webhookId", owner, failing)
    ), enabled AS (
      SELECT w.id, w.delivery, coalesce(w."companyId", '') AS owner, w."failingSince" IS NOT NULL AS failing,
        (SELECT count(*) FROM busy b WHERE b."webhookId" = w.id) AS "inFlight"
      FROM "Webhook" w WHERE w."disabledAt" IS NULL
    ), due AS (${dueOf('PUSH', 'nextAttemptAt')}
      UNION ALL ${dueOf('PULL', 'retryUntil')}
    ), ranked AS (
      SELECT due.*,
        row_number() OVER (PARTITION BY owner ORDER BY failing, "nextAttemptAt")
          + (SELECT count(*) FROM busy b WHERE b.owner = due.owner) AS "ofCompany",
        row_number() OVER (PARTITION BY owner, failing ORDER BY "nextAttemptAt")
          + (SELECT count(*) FROM busy b WHERE b.owner = due.owner AND b.failing) AS "ofCompanyFailing"
      FROM due
    ), within_company AS (
      SELECT ranked.*,
        row_number() OVER (PARTITION BY failing ORDER BY "ofCompany", "nextAttemptAt")
          + (SELECT count(*) FROM busy b WHERE b.failing) AS "ofFailing"
      FROM ranked
      WHERE "ofCompany" <= ${maxInFlightPerCompany}
        AND (NOT failing OR "ofCompanyFailing" <= ${maxFailingInFlightPerCompany})
    ), chosen AS (
      SELECT id FROM within_company
      WHERE NOT failing OR "ofFailing" <= ${maxFailingInFlight}
      ORDER BY failing, "ofCompany", "nextAttemptAt" LIMIT greatest(${maxInFlight} - cardinality($id::text[]), 0)
    ), locked AS (
      SELECT d.id FROM "WebhookDelivery" d
      WHERE d.id IN (SELECT id FROM chosen) AND d.status = 'PENDING' AND d."nextAttemptAt" <= now()
      FOR UPDATE SKIP LOCKED
    ), ${claimLocked(workerLeaseSeconds, { claimedAt: claimedByWorker })}`,
);

/**
 * Stores that the receiver of a push webhook has accepted a message. If a client asks the gateway to send the message
 * again while the delivery attempt is running, `claimedAt` changes. If `claimedAt` has changed since the attempt began,
 * the SQL statement does not change the status of the delivery.
 */
export const acceptStatement = namedStatement(
  'webhook-accept',
  `
    UPDATE "WebhookDelivery" d
    SET status = CASE WHEN d."claimedAt" = $claimedAt::timestamptz THEN 'DELIVERED'::"WebhookDeliveryStatus" ELSE d.status END
    WHERE d.id = $id RETURNING d.id`,
);

/**
 * Sets the due time of a claimed delivery to `$afterSeconds` seconds from now. The statement does not change the
 * delivery if another claim, or a request to send the message again, has already changed `nextAttemptAt`.
 */
export const releaseStatement = namedStatement(
  'webhook-release',
  `UPDATE "WebhookDelivery" SET "nextAttemptAt" = now() + make_interval(secs => $afterSeconds)
    WHERE id = $id AND status = 'PENDING' AND "nextAttemptAt" = $leaseEndsAt::timestamptz`,
);

/**
 * The size, in bytes, at which a response with pulled webhook messages is full. When the messages in a response
 * together exceed this size, the gateway adds no further message. The size of a message is the stored size of the
 * column `changes` of its audit record. A response with many large messages would delay other requests, because the
 * gateway parses and signs messages without yielding to the event loop.
 */
const maxStoredBytes = 1024 * 1024;

/**
 * The largest duration of a delivery attempt that the column `durationMs` can store, in milliseconds. If the real
 * duration of an attempt is 25 days or more, the gateway stores `maxDurationMs`. For example, the duration of an
 * attempt is 25 days if a client acknowledges a message 25 days after the client pulled the message.
 */
export const maxDurationMs = 2 ** 31 - 1;
const longestDuration = `interval '${maxDurationMs} milliseconds'`;

/**
 * The error text of a delivery attempt that failed because the client pulled the message, but did not acknowledge it
 * before the lease ended.
 */
const leaseEnded = 'No reader acknowledged the message before the lease ended';

/**
 * The SQL condition for webhook messages that a client can pull now: the message is not reserved for a client, and has
 * not expired.
 */
const isWaiting = (alias: string) =>
  `${alias}.status = 'PENDING' AND ${alias}."nextAttemptAt" <= now() AND ${alias}."retryUntil" > now()`;

/**
 * Reserves up to `$first` messages of a webhook for a client, for `$leaseSeconds` seconds. The SQL statement selects
 * the webhook messages that have waited longest. The SQL statement skips messages that another client is pulling at the
 * same time. If a client pulled a message earlier and did not acknowledge it in time, the SQL statement also stores a
 * failed delivery attempt of this message. The SQL statement reserves no messages of a disabled webhook. A disabled
 * webhook can still have waiting messages, because the gateway cancels the messages in batches.
 */
export const pullStatement = namedStatement(
  'webhook-pull',
  `
    WITH free AS (
      SELECT d.id, d."eventId", d."nextAttemptAt", d."claimedAt" FROM "WebhookDelivery" d
      WHERE d."webhookId" = $webhookId AND ${isWaiting('d')}
        AND EXISTS (SELECT FROM "Webhook" w WHERE w.id = $webhookId AND w."disabledAt" IS NULL)
      ORDER BY d."nextAttemptAt", d.id LIMIT $first::int
      FOR UPDATE SKIP LOCKED
    ), measured AS (
      SELECT free.*,
        (extract(epoch FROM least("nextAttemptAt", "claimedAt" + ${longestDuration}) - "claimedAt") * 1000)::int
          AS "unacknowledgedMs",
        sum(coalesce(pg_column_size(r.changes), 0)) OVER (ORDER BY free."nextAttemptAt", free.id
          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS "bytesBefore"
      FROM free JOIN "AuditRecord" r ON r.id = free."eventId"
    ), locked AS (
      SELECT * FROM measured WHERE coalesce("bytesBefore", 0) <= ${maxStoredBytes}
    ), ended AS (
      INSERT INTO "WebhookAttempt" (id, "deliveryId", error, "durationMs", "createdAt")
      SELECT "new_id"(), id, '${leaseEnded}', "unacknowledgedMs", "nextAttemptAt"
      FROM locked WHERE "unacknowledgedMs" IS NOT NULL
    ), ${claimLocked('$leaseSeconds::int', { further: { unacknowledgedMs: 'locked."unacknowledgedMs"' } })}`,
);

/**
 * The maximum number of waiting messages that the gateway counts for one webhook. This maximum reduces the load on the
 * database.
 */
export const maxCountedWaiting = 1000;

/** How many messages of one webhook wait until a client pulls them. */
export interface WaitingCount {
  webhookId: string;
  waiting: number;
  /** The time at which the most recent waiting message began to wait; null when no message waits. */
  newest: Date | null;
}

/**
 * Counts the waiting messages of several webhooks. The SQL statement counts only the newest `maxCountedWaiting`
 * messages of a webhook. For a disabled webhook, the number of waiting messages is 0. For a deleted webhook, the result
 * has no row.
 */
export const countWaiting = namedStatement(
  'webhook-count-waiting',
  `
    SELECT w.id AS "webhookId", counted.waiting, counted.newest
    FROM "Webhook" w CROSS JOIN LATERAL (
      SELECT count(*)::int AS waiting, max(newest."nextAttemptAt") AS newest FROM (
        SELECT d."nextAttemptAt" FROM "WebhookDelivery" d
        WHERE d."webhookId" = w.id AND w."disabledAt" IS NULL AND ${isWaiting('d')}
        ORDER BY d."nextAttemptAt" DESC LIMIT ${maxCountedWaiting}
      ) newest
    ) counted
    WHERE w.id = ANY ($ids::text[])`,
);

/**
 * Reads the number of pending webhook deliveries, the age of the oldest pending delivery, and the longest delay of a
 * push delivery. The statement reads at most `$most` deliveries.
 */
export const backlogStatement = namedStatement(
  'webhook-backlog',
  `
    SELECT count(*)::int AS pending,
      coalesce(extract(epoch FROM now() - min("createdAt")), 0)::float8 AS "oldestSeconds",
      greatest(coalesce(extract(epoch FROM now() - min("nextAttemptAt") FILTER (WHERE delivery = 'PUSH')), 0), 0)::float8
        AS "overdueSeconds"
    FROM (
      SELECT w.delivery, d."createdAt", d."nextAttemptAt"
      FROM "Webhook" w JOIN "WebhookDelivery" d ON d."webhookId" = w.id AND d.status = 'PENDING'
      WHERE w."disabledAt" IS NULL
      LIMIT $most
    ) AS counted`,
);
