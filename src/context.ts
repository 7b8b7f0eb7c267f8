import type { Logger } from 'pino';
import type { Prisma, PrismaClient } from '../prisma/generated/client/client.ts';
import type { AuditRecordList } from './audit/reads.ts';
import type { CompanyReads } from './companies/reads.ts';
import type { CompanyWrites } from './companies/writes.ts';
import type { InsideCounts } from './parking/count-inside.ts';
import type { OccupancyHistory } from './parking/occupancy-history.ts';
import type { ParkingReads } from './parking/reads.ts';
import type { ParkingBatches } from './parking/record-batch.ts';
import type { ParkingWrites } from './parking/record-event.ts';
import type { AuthenticatedKey } from './auth/key.ts';
import type { KeyReads } from './auth/key-reads.ts';
import type { KeyWrites } from './auth/key-writes.ts';
import type { Authenticator } from './auth/authenticator.ts';
import type { RateLimitDecision } from './rate-limit/types.ts';
import type { LargeValues } from './database/large-values.ts';
import type { LocationFinder } from './location-access/find-location.ts';
import type { LocationReads } from './locations/reads.ts';
import type { LocationWrites } from './locations/writes.ts';
import type { LocationNotices } from './location-access/notices.ts';
import type { WholeList } from './paging.ts';
import type { UsageReads } from './usage/reads.ts';
import type { WebhookPulls } from './webhooks/pull.ts';
import type { WebhookReads } from './webhooks/reads.ts';
import type { WebhookRedeliveries } from './webhooks/redeliveries.ts';
import type { WaitingMessages } from './webhooks/waiting-messages.ts';
import type { WebhookWrites } from './webhooks/writes.ts';
import type { AccessDecisions } from './gates/decisions.ts';
import type { WhitelistFeed } from './whitelist/feed/feed.ts';
import type { WhitelistImport } from './whitelist/import/import.ts';
import type { Quotas } from './parking/quotas.ts';
import type { WhitelistReads } from './whitelist/reads.ts';
import type { WhitelistWrites } from './whitelist/writes.ts';

/** The services that all requests of a process share. */
export interface Services {
  prisma: PrismaClient;
  // The functions of each domain folder. The first argument of a function that writes is the author of the change. The
  // context of a request can be passed as the author.
  apiKeys: KeyReads & KeyWrites;
  companies: CompanyReads & CompanyWrites;
  locations: LocationFinder & LocationReads & LocationWrites;
  whitelist: WhitelistReads &
    AccessDecisions &
    WhitelistWrites &
    WhitelistImport & { feed: WhitelistFeed; quotas: Quotas };
  parking: ParkingReads & OccupancyHistory & ParkingWrites & ParkingBatches & InsideCounts;
  webhooks: WebhookReads & WebhookWrites & WebhookRedeliveries & WebhookPulls;
  usage: UsageReads;
  /** Lists the audit records that meet a condition. The newest records of the last seconds may be missing. */
  auditRecords: (where: Prisma.AuditRecordWhereInput) => AuditRecordList;
  /** Reads the changes of an audit record by the id of the record (see large-values.ts). */
  auditChangesOf: LargeValues;
  /** Reads the current state of a key's rate limit without charging the key. */
  rateLimitOf: (
    key: Pick<AuthenticatedKey, 'id' | 'hourlyLimit' | 'burstLimit'>,
  ) => Promise<RateLimitDecision>;
  statusNotices: LocationNotices;
  whitelistNotices: LocationNotices;
  waitingMessages: WaitingMessages;
  authenticator: Authenticator;
}

/** The context of a resolver, created once for each request. REST and GraphQL requests have the same context. */
export interface Context {
  readonly services: Services;
  readonly key: AuthenticatedKey;
  /**
   * Checks the key again during a long response. The promise rejects when the key is no longer valid, or has lost a
   * permission or a part of its scope since the request began.
   */
  reauthenticate(): Promise<unknown>;
  /**
   * Closes the connection in the middle of a response, so that the client sees an incomplete transfer.
   *
   * @returns false when the request has no connection, for example a request from within the process
   */
  cutConnection(): boolean;
  /**
   * Receives a list that REST sends as a whole, instead of its first page. The graph validates the request, and REST
   * then reads the list as JSON.
   */
  takeWholeList?: ((list: WholeList) => void) | undefined;
  /**
   * Whether the response is streamed. A streamed response reads a large value when it writes the value (see
   * large-values.ts).
   */
  defersLargeValues?: boolean | undefined;
  /**
   * Adds a change to the number of response bytes that wait in memory for the client. The change is negative when bytes
   * were sent.
   */
  holdBytes(change: number): void;
  /** The id of the request. The id appears in the log, in the audit log and in the response to an unexpected error. */
  requestId: string;
  log: Logger;
}
