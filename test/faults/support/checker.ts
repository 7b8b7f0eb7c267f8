import type { Receiver } from '../../support/receiver.ts';
import type { Ledger, Outcome } from './load.ts';
import type { Tenant } from './tenant.ts';

// The functions of this file check the content of the database after a fault. The database must contain each
// acknowledged change exactly once, with its audit record. Each change in the database must come from a request of a
// test client. Each check returns a list of texts that describe the errors in the stored data.

/** The database that a fault test checks: a connection to PostgreSQL, or the embedded database. */
export interface Queries {
  query<Row extends object>(text: string, values?: unknown[]): Promise<{ rows: Row[] }>;
}

interface AuditRow {
  id: string;
  action: string;
  targetId: string;
  plateNumber: string | null;
}

/**
 * Returns whether `count` is a possible number of stored rows for a request with the given outcome. An acknowledged
 * request stored exactly one row. A refused request stored no row. A request with an unknown outcome stored at most one
 * row.
 */
function agrees(outcome: Outcome, count: number): boolean {
  if (outcome === 'acknowledged') return count === 1;
  return outcome === 'refused' ? count === 0 : count <= 1;
}

const readAudit = async (database: Queries, { locationId }: Tenant): Promise<AuditRow[]> => {
  const { rows } = await database.query<AuditRow>(
    `SELECT id, action, "targetId",
       coalesce(changes->>'plateNumber', changes->'after'->>'plateNumber') AS "plateNumber"
     FROM "AuditRecord" WHERE "locationId" = $1 AND (action LIKE 'whitelist.%' OR action LIKE 'parking.%')`,
    [locationId],
  );
  return rows;
};

/**
 * Compares the stored whitelist entries and their audit records with the recorded outcomes of the clients' requests.
 */
async function checkPlates(database: Queries, tenant: Tenant, { plates }: Ledger): Promise<string[]> {
  const { rows: entries } = await database.query<{ plateNumber: string; note: string | null }>(
    'SELECT "plateNumber", note FROM "WhitelistEntry" WHERE "locationId" = $1',
    [tenant.locationId],
  );
  const notes = new Map(entries.map(({ plateNumber, note }) => [plateNumber, note]));
  const audit = (await readAudit(database, tenant)).filter(({ action }) => action.startsWith('whitelist.'));
  const counts = new Map<string, number>();
  for (const { action, plateNumber } of audit) {
    const name = `${action} ${plateNumber}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const violations: string[] = [];
  const asked = new Set(plates.map(({ plateNumber }) => plateNumber));
  for (const plateNumber of notes.keys())
    if (!asked.has(plateNumber)) violations.push(`plate ${plateNumber} is listed, but no client sent it`);
  for (const { action, plateNumber } of audit)
    if (!plateNumber || !asked.has(plateNumber))
      violations.push(`${action} of ${plateNumber} is recorded, but no client sent it`);

  for (const { plateNumber, create, updates, remove } of plates) {
    const audited = (action: string) => counts.get(`whitelist.${action} ${plateNumber}`) ?? 0;
    const note = `plate ${plateNumber} (create ${create}, update ${updates[0]?.outcome}, remove ${remove})`;
    if (!agrees(create, audited('created')))
      violations.push(`${note}: ${audited('created')} audit records of create`);
    const [update] = updates;
    if (!agrees(update?.outcome ?? 'refused', audited('updated')))
      violations.push(`${note}: ${audited('updated')} audit records of update`);
    if (!agrees(remove ?? 'refused', audited('deleted')))
      violations.push(`${note}: ${audited('deleted')} audit records of delete`);
    const isListed = notes.has(plateNumber);
    if (isListed !== (audited('created') === 1 && audited('deleted') === 0))
      violations.push(`${note}: ${isListed ? 'listed' : 'not listed'}, but the audit log disagrees`);
    if (isListed && (notes.get(plateNumber) === update?.note) !== (audited('updated') === 1))
      violations.push(`${note}: its note is ${notes.get(plateNumber)}, but the audit log disagrees`);
  }
  return violations;
}

/** Compares the stored parking events and their audit records with the recorded outcomes of the clients' requests. */
async function checkEvents(database: Queries, tenant: Tenant, { events }: Ledger): Promise<string[]> {
  const { rows } = await database.query<{ eventId: string; audited: number }>(
    `SELECT e."eventId", (SELECT count(*) FROM "AuditRecord" a WHERE a."targetId" = e.id
       AND a.action IN ('parking.entered', 'parking.exited'))::int AS audited
     FROM "ParkingEvent" e WHERE e."locationId" = $1`,
    [tenant.locationId],
  );
  const recorded = new Map(rows.map(({ eventId, audited }) => [eventId, audited]));
  const asked = new Set(events.map(({ eventId }) => eventId));
  return [
    ...rows
      .filter(({ eventId }) => !asked.has(eventId))
      .map(({ eventId }) => `event ${eventId} is stored, but no client sent it`),
    ...rows
      .filter(({ audited }) => audited !== 1)
      .map(({ eventId, audited }) => `event ${eventId} has ${audited} audit records`),
    ...events
      .filter(({ eventId, outcome }) => !agrees(outcome, recorded.has(eventId) ? 1 : 0))
      .map(
        ({ eventId, outcome }) =>
          `event ${eventId} was ${outcome} and is ${recorded.has(eventId) ? '' : 'not '}stored`,
      ),
  ];
}

/**
 * Compares the stored whitelist entries and parking events with the recorded outcomes of the clients' requests, and
 * returns one text for each difference.
 */
export async function checkLedger(database: Queries, tenant: Tenant, ledger: Ledger): Promise<string[]> {
  return [...(await checkPlates(database, tenant, ledger)), ...(await checkEvents(database, tenant, ledger))];
}

/**
 * Returns whether the webhook receiver accepted a message. The gateway must resend a webhook message that the receiver
 * refused.
 */
const isTaken = ({ answer }: Receiver['messages'][number]) => typeof answer === 'number' && answer < 300;

/**
 * Compares the audit log with the messages that the tenant's webhook receiver accepted. The receiver must have accepted
 * at least one webhook message about each change. All messages about one change must have the same message id.
 */
export async function checkMessages(database: Queries, tenant: Tenant): Promise<string[]> {
  const { rows } = await database.query<{ eventId: string; ids: string[] }>(
    `SELECT a.id AS "eventId", coalesce(array_agg(d.id) FILTER (WHERE d.id IS NOT NULL), '{}') AS ids
     FROM "AuditRecord" a LEFT JOIN "WebhookDelivery" d ON d."eventId" = a.id
     WHERE a."locationId" = $1 AND (a.action LIKE 'whitelist.%' OR a.action IN ('parking.entered', 'parking.exited'))
     GROUP BY a.id`,
    [tenant.locationId],
  );
  const { messages } = tenant.receiver;
  const sent = new Set(messages.map(({ id }) => id));
  const taken = new Set(messages.filter(isTaken).map(({ id }) => id));
  const known = new Set(rows.flatMap(({ ids }) => ids));
  return [
    ...rows
      .filter(({ ids }) => ids.length !== 1)
      .map(({ eventId, ids }) => `audit record ${eventId} has ${ids.length} messages`),
    ...[...known]
      .filter((id) => !taken.has(id))
      .map((id) => `message ${id} was not accepted by its receiver`),
    ...[...sent].filter((id) => !known.has(id)).map((id) => `message ${id} has no audit record`),
  ];
}
