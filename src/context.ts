import type { Logger } from 'pino';
import type { Prisma, PrismaClient } from '../prisma/generated/client/client.ts';
import type { AuditRecordList } from './audit/reads.ts';
import type { CompanyReads } from './companies/reads.ts';
import type { CompanyWrites } from './companies/writes.ts';
import type { InsideCounts } from './parking/count-inside.ts';
import type { ParkingReads } from './parking/reads.ts';
import type { ParkingBatches } from './parking/record-batch.ts';
import type { ParkingWrites } from './parking/record-event.ts';
import type { AuthenticatedKey } from './auth/key.ts';
import type { KeyReads } from './auth/key-reads.ts';
import type { KeyWrites } from './auth/key-writes.ts';
import type { Authenticator } from './auth/authenticator.ts';
import type { RateLimitDecision } from './rate-limit/types.ts';
import type { LargeValues } from './database/large-values.ts';
import type { LocationReads } from './locations/reads.ts';
import type { LocationWrites } from './locations/writes.ts';
import type { LocationNotices } from './locations/notices.ts';
import type { WholeList } from './pages.ts';
import type { UsageReads } from './usage/reads.ts';
import type { WebhookReads } from './webhooks/reads.ts';
import type { WebhookSends } from './webhooks/sends.ts';
import type { WebhookWrites } from './webhooks/writes.ts';
import type { AccessDecisions } from './whitelist/decisions.ts';
import type { WhitelistFeed } from './whitelist/changes.ts';
import type { WhitelistImport } from './whitelist/import.ts';
import type { Quotas } from './whitelist/quotas.ts';
import type { WhitelistReads } from './whitelist/reads.ts';
import type { WhitelistWrites } from './whitelist/writes.ts';

/** What one process shares among its requests. */
export interface Services {
  prisma: PrismaClient;
  // What each domain folder does. Changes take their author first: the context of the request is one.
  apiKeys: KeyReads & KeyWrites;
  companies: CompanyReads & CompanyWrites;
  locations: LocationReads & LocationWrites;
  whitelist: WhitelistReads &
    AccessDecisions &
    WhitelistWrites &
    WhitelistImport & { feed: WhitelistFeed; quotas: Quotas };
  parking: ParkingReads & ParkingWrites & ParkingBatches & InsideCounts;
  webhooks: WebhookReads & WebhookWrites & WebhookSends;
  usage: UsageReads;
  /** The audit records that meet a condition; they may be some seconds behind. */
  auditRecords: (where: Prisma.AuditRecordWhereInput) => AuditRecordList;
  /** The changes of an audit record, by its id (see large-values.ts). */
  auditChangesOf: LargeValues;
  /** The present state of a key's rate limit; takes nothing from it. */
  rateLimitOf: (
    key: Pick<AuthenticatedKey, 'id' | 'hourlyLimit' | 'burstLimit'>,
  ) => Promise<RateLimitDecision>;
  statusNotices: LocationNotices;
  whitelistNotices: LocationNotices;
  authenticator: Authenticator;
}

/** What a resolver sees: built once for each request, the same for both surfaces. */
export interface Context extends Services, OwnOfContext {}

/** What the context of a request has of its own. */
export interface OwnOfContext {
  key: AuthenticatedKey;
  /**
   * The key as it is now, for answers that take long; rejects when it no longer opens the service, or has lost
   * something since the request began.
   */
  reauthenticate(): Promise<unknown>;
  /**
   * Cuts the connection in the middle of an answer, so that the client sees a transfer that did not end.
   *
   * @returns false when there is no connection to cut, as for a request within the process
   */
  cutConnection(): boolean;
  /**
   * Takes a list that is to be sent whole, in place of its first page: the graph has checked what is asked for, and
   * REST reads the list as JSON.
   */
  takeWholeList?: (list: WholeList) => void;
  /** Whether the surface writes the answer piece by piece, and large values as they are read (see large-values.ts). */
  defersLargeValues?: boolean;
  /** Counts bytes of the answer that wait in memory for the client; less than 0 for those that were passed on. */
  holdBytes(change: number): void;
  /** Names the request in the log, in the audit log and in an unexpected error. */
  requestId: string;
  log: Logger;
}

/** The names of these members: each context has a place for all of them. */
export const ownOfContext = [
  'key',
  'reauthenticate',
  'cutConnection',
  'takeWholeList',
  'defersLargeValues',
  'holdBytes',
  'requestId',
  'log',
] as const satisfies (keyof OwnOfContext)[];
