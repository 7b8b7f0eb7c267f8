import { setTimeout as sleep } from 'node:timers/promises';
import type { Tenant } from './tenant.ts';

/**
 * The outcome of a request as its client knows it: the gateway confirmed the change, or the gateway refused the change,
 * or the outcome is unknown. The outcome is unknown without a response, or with a status of 500 or more, and the change
 * may or may not be stored.
 */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

/**
 * The requests that a client sends for one plate, in order. The client stops after a request with an unknown outcome.
 */
interface PlateHistory {
  plateNumber: string;
  create: Outcome;
  updates: { note: string; outcome: Outcome }[];
  remove?: Outcome;
}

/** A parking event that a gate sent repeatedly until the gateway acknowledged the event. */
interface EventHistory {
  eventId: string;
  outcome: Outcome;
}

/** All requests of the clients of a load. */
export interface Ledger {
  plates: PlateHistory[];
  events: EventHistory[];
  /** The number of acknowledged requests of each gateway, by its index in `urls`. */
  acknowledged: number[];
  /** The requests without a response, or with a status of 500 or more, each with the reason. */
  unanswered: string[];
  /** The number of responses to requests of the rate-limited key. */
  askedOfLimitedKey: number;
  /** The number of requests of the rate-limited key that the gateways did not refuse. */
  servedOfLimitedKey: number;
}

/** The settings of the load that the clients cause. */
export interface LoadOptions {
  writers?: number;
  /** The pause of a writer between two requests, in milliseconds. */
  pauseMs?: number;
}

/** Clients that send changes until the test stops the clients. */
export interface Load {
  ledger: Ledger;
  /** Stops the clients when their requests in progress have ended. */
  stop(): Promise<void>;
}

/** The pause of a writer between two requests, in milliseconds. All processes share two cores. */
const defaultPauseMs = 20;
/** The time that a client waits for a response, in milliseconds. */
const patienceMs = 20_000;
/** The number of times that a gate sends an event again while its outcome is unknown. */
const maxResends = 20;

let plateSequence = 0;

/** Returns the id of the object in a response: from `data` over REST, or from the only root field over GraphQL. */
function idOf(data: object): string {
  const holder = 'id' in data ? data : (Object.values(data)[0] as object);
  return (holder as { id: string }).id;
}

interface Answered {
  outcome: Outcome;
  id?: string;
}

/**
 * Starts clients that write. The clients are distributed over the gateways, so a gateway that hangs stops only its own
 * clients.
 */
export function startLoad(
  urls: readonly string[],
  tenant: Tenant,
  { writers = 4, pauseMs = defaultPauseMs }: LoadOptions = {},
): Load {
  const ledger: Ledger = {
    plates: [],
    events: [],
    acknowledged: urls.map(() => 0),
    unanswered: [],
    askedOfLimitedKey: 0,
    servedOfLimitedKey: 0,
  };
  let stopped = false;

  /** No server listens at the address of the gateway, so the client did not even send the request. */
  const isUnsent = (error: unknown) =>
    ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';

  function unanswered(request: string, reason: string): Answered {
    ledger.unanswered.push(`${new Date().toISOString()} ${request}: ${reason}`);
    return { outcome: 'unknown' };
  }

  async function send(gateway: number, method: string, path: string, body: unknown): Promise<Answered> {
    try {
      const response = await fetch(urls[gateway]! + path, {
        method,
        headers: { 'Content-Type': 'application/json', 'X-API-Key': tenant.key },
        signal: AbortSignal.timeout(patienceMs),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const answer = (await response.json()) as {
        data?: Record<string, unknown>;
        errors?: { extensions?: { code?: string } }[];
      };
      const [error] = answer.errors ?? [];
      if (response.status >= 500 || error?.extensions?.code === 'INTERNAL_ERROR')
        return unanswered(`${method} ${path}`, `${response.status} ${JSON.stringify(answer)}`);
      if (!response.ok || error) return { outcome: 'refused' };
      ledger.acknowledged[gateway]! += 1;
      return {
        outcome: 'acknowledged',
        id: idOf(answer.data!),
      };
    } catch (error) {
      if (isUnsent(error)) return { outcome: 'refused' };
      const { message, cause = '' } = error as Error;
      return unanswered(`${method} ${path}`, `${message} ${String(cause)}`);
    }
  }

  const { locationId } = tenant;
  const whitelist = `/api/locations/${locationId}/whitelist`;

  async function writeEntry(gateway: number): Promise<void> {
    plateSequence += 1;
    const plateNumber = String(plateSequence);
    const entry = { referenceId: 'fault', plateType: 'DXB', plateCode: 'A', plateNumber };
    const created = await send(gateway, 'POST', whitelist, entry);
    const history: PlateHistory = { plateNumber, create: created.outcome, updates: [] };
    ledger.plates.push(history);
    if (created.outcome !== 'acknowledged') return;
    await sleep(pauseMs);

    const note = `changed ${plateNumber}`;
    const { outcome } = await send(gateway, 'POST', '/graphql', {
      query: `mutation ($locationId: ID!, $id: ID!, $input: WhitelistEntryInput!) {
        updateWhitelistEntry(locationId: $locationId, id: $id, input: $input) { id } }`,
      variables: { locationId, id: created.id, input: { ...entry, note } },
    });
    history.updates.push({ note, outcome });
    if (outcome !== 'acknowledged' || plateSequence % 3 !== 0) return;
    await sleep(pauseMs);
    history.remove = (await send(gateway, 'DELETE', `${whitelist}/${created.id}`, undefined)).outcome;
  }

  async function sendEvent(gateway: number): Promise<void> {
    plateSequence += 1;
    const input = {
      eventId: `event-${plateSequence}`,
      kind: plateSequence % 2 === 0 ? 'ENTRY' : 'EXIT',
      plate: { plateType: 'DXB', plateCode: 'B', plateNumber: String(plateSequence % 50) },
      occurredAt: new Date().toISOString(),
    };
    const history: EventHistory = { eventId: input.eventId, outcome: 'unknown' };
    ledger.events.push(history);
    for (let resend = 0; resend <= maxResends && history.outcome !== 'acknowledged'; resend += 1) {
      if (resend > 0) await sleep(500);
      const { outcome } = await send(gateway, 'POST', '/graphql', {
        query: `mutation ($locationId: ID!, $input: ParkingEventInput!) {
          recordParkingEvent(locationId: $locationId, input: $input) { id } }`,
        variables: { locationId, input },
      });
      // When a repeated request is refused, the outcome of the first request stays unknown.
      if (outcome === 'acknowledged' || resend === 0) history.outcome = outcome;
      if (stopped) return;
    }
  }

  async function write(gateway: number): Promise<void> {
    for (let count = 0; !stopped; count += 1) {
      await (count % 3 === 0 ? sendEvent(gateway) : writeEntry(gateway));
      await sleep(pauseMs);
    }
  }

  async function useLimitedKey(): Promise<void> {
    while (!stopped) {
      const answers = await Promise.allSettled(
        urls.map((url) =>
          fetch(`${url}/api/health`, {
            headers: { 'X-API-Key': tenant.limitedKey },
            signal: AbortSignal.timeout(patienceMs),
          }),
        ),
      );
      const answered = answers.filter((answer) => answer.status === 'fulfilled');
      ledger.askedOfLimitedKey += answered.length;
      ledger.servedOfLimitedKey += answered.filter(({ value }) => value.ok).length;
      await sleep(Math.max(pauseMs, defaultPauseMs));
    }
  }

  const running = Promise.all([
    useLimitedKey(),
    ...Array.from({ length: writers }, (_, index) => write(index % urls.length)),
  ]);
  return {
    ledger,
    async stop() {
      stopped = true;
      await running;
    },
  };
}
