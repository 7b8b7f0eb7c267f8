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

/** The services of a gateway process, which all requests to the process share. */
export interface Services {
  prisma: PrismaClient;
  // The properties from `apiKeys` to `usage` contain the functions of the domain folders, such as src/parking and
  // src/whitelist. The first argument of a function that changes data is the author of the change. A caller can pass
  // the context of a request as this argument.
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
  /**
   * Lists all audit records that match the given Prisma filter. Audit records of the last few seconds can be missing in
   * this list, because the gateway may read the list from the standby database.
   */
  auditRecords: (where: Prisma.AuditRecordWhereInput) => AuditRecordList;
  /** Reads the field `changes` of an audit record by the id of the audit record (see large-values.ts). */
  auditChangesOf: LargeValues;
  /** Reads how many rate limit points an API key has left, without using any of these points. */
  rateLimitOf: (
    key: Pick<AuthenticatedKey, 'id' | 'hourlyLimit' | 'burstLimit'>,
  ) => Promise<RateLimitDecision>;
  statusNotices: LocationNotices;
  whitelistNotices: LocationNotices;
  waitingMessages: WaitingMessages;
  authenticator: Authenticator;
}

/**
 * The data and services for the resolvers of one request. Requests over REST and over GraphQL use the same type of
 * context.
 */
export interface Context {
  readonly services: Services;
  readonly key: AuthenticatedKey;
  /**
   * Checks the API key again during a long response, and returns its current permissions and scope. Throws an error if
   * the API key has become invalid, or has lost a permission or a part of its scope, since the request began.
   */
  reauthenticate(): Promise<AuthenticatedKey>;
  /**
   * Closes the connection in the middle of the response, so that the client notices that the response is incomplete.
   *
   * @returns false for a request without a network connection, for example a request from a test
   */
  cutConnection(): boolean;
  /**
   * The function `takeWholeList` exists only if the REST endpoint responds with a whole list instead of one page. If
   * `takeWholeList` exists, the resolver of a GraphQL list field only validates the request, and passes a description
   * of the list to `takeWholeList`. The REST layer reads the items of the list as JSON text from the database.
   */
  takeWholeList?: ((list: WholeList) => void) | undefined;
  /**
   * Whether the gateway streams the response to the client. In a streamed response, the gateway reads each large value
   * from the database just before the gateway writes the value to the response (see large-values.ts).
   */
  defersLargeValues?: boolean | undefined;
  /**
   * Adds `change` to the number of response bytes that wait in the gateway's memory because the client has not read
   * them yet. When bytes no longer wait in memory, `change` is negative.
   */
  holdBytes(change: number): void;
  /** The id of the request. The log, the audit log and the response to an unexpected error contain the request id. */
  requestId: string;
  log: Logger;
}
