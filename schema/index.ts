import './access.ts';
import './api-key.ts';
import './audit-log.ts';
import './company.ts';
import './deprecated-use.ts';
import './entry-rules.ts';
import './health.ts';
import './location.ts';
import './occupancy-count.ts';
import './occupancy-history.ts';
import './parking-event.ts';
import './parking-event-batch.ts';
import './parking-session.ts';
import './quota.ts';
import './rate-limit.ts';
import './status.ts';
import './usage.ts';
import './webhook.ts';
import './webhook-delivery.ts';
import './webhook-message.ts';
import './whitelist.ts';
import './whitelist-list.ts';
import './whitelist-changes.ts';
import './whitelist-import.ts';
import { builder } from './builder.ts';

/** The GraphQL schema of the gateway, with all its types, queries, mutations and subscriptions. */
export const schema = builder.toSchema({ sortSchema: false }); // `false` keeps the field order of docs/contract.md
