import type { Logger } from 'pino';
import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import type { LargeValues } from '../database/large-values.ts';
import type { Sql } from '../database/types.ts';
import type { AttemptOutcome } from './attempt-outcome.ts';
import { createLookups } from './look-ups.ts';
import { createNameResolver } from './name-resolver.ts';
import { createWebhookPulls } from './pull.ts';
import { createWebhookReads } from './reads.ts';
import { createWebhookRedeliveries } from './redeliveries.ts';
import { createWebhookSecretBox } from './secret-box.ts';
import { createWebhookTarget } from './sender.ts';
import { createWebhookWorker } from './worker.ts';
import { createWebhookWrites } from './writes.ts';

/**
 * Creates the webhook functions of one gateway process, and starts the worker that sends webhook messages.
 *
 * @param options.pepper the secret from which the encryption key for webhook secrets is derived
 * @param options.allowPrivate true if the host of a webhook may have a private IP address
 * @param options.nameServers the addresses of the name servers for the DNS look-ups of webhook hosts; if omitted, the
 *   gateway uses the name servers of the system
 * @param options.changesOf a function that reads the column `changes` of the audit record with a given id
 * @param options.onAttempt a function that the gateway calls after each attempt to deliver a webhook message
 */
export function createWebhooks(options: {
  prisma: PrismaClient;
  sql: Sql;
  log: Logger;
  pepper: string;
  allowPrivate: boolean;
  nameServers: readonly string[] | undefined;
  changesOf: LargeValues;
  onAttempt: (attempt: { outcome: AttemptOutcome; durationMs: number }) => void;
}) {
  const { prisma, sql, log, pepper, allowPrivate, nameServers, changesOf, onAttempt } = options;
  const secrets = createWebhookSecretBox(pepper);
  const target = createWebhookTarget({
    allowPrivate,
    lookups: createLookups(createNameResolver({ nameServers })),
  });
  const worker = createWebhookWorker({ prisma, sql, log, secrets, target, onAttempt });
  return {
    webhooks: {
      ...createWebhookReads({ prisma, sql, changesOf }),
      ...createWebhookWrites({ prisma, sql, secrets, target }),
      ...createWebhookRedeliveries({ prisma }),
      ...createWebhookPulls({ prisma, sql, secrets, onAttempt }),
    },
    /** Stops the worker that sends webhook messages. */
    close: () => worker.close(),
  };
}
