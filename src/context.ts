import type { Logger } from 'pino';
import type { Environment } from '../prisma/generated/client/enums.ts';
import type { PrismaClient } from '../prisma/generated/client/client.ts';
import type { ActivityStore } from './activity-store.ts';
import type { AuthenticatedKey, Authenticator } from './auth.ts';
import type { Sql } from './db.ts';
import type { LocationStore } from './location-store.ts';
import type { StatusNotices } from './status-notices.ts';
import type { UsageStore } from './usage-store.ts';
import type { WebhookSecretBox } from './webhook-secret.ts';
import type { WebhookTarget } from './webhook-target.ts';
import type { WhitelistReads } from './whitelist-reads.ts';
import type { WhitelistWrites } from './whitelist-writes.ts';

/** What one process shares among its requests. */
export interface Services {
  prisma: PrismaClient;
  /** Statements written by hand. */
  sql: Sql;
  /** The statements of the hot paths. */
  whitelist: WhitelistReads & WhitelistWrites;
  locations: LocationStore;
  activity: ActivityStore;
  usage: UsageStore;
  statusNotices: StatusNotices;
  authenticator: Authenticator;
  environment: Environment;
  webhookSecrets: WebhookSecretBox;
  webhookTarget: WebhookTarget;
  /** Hashes a new key's secret for the database. */
  hashSecret: (secret: string) => string;
}

/** What a resolver sees: built once for each request, the same for both surfaces. */
export interface Context extends Services {
  key: AuthenticatedKey;
  /** Names the request in the log, in the audit log and in an unexpected error. */
  requestId: string;
  log: Logger;
}
