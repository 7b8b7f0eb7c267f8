import { setTimeout as sleep } from 'node:timers/promises';
import type { Tenant } from './tenant.ts';

/**
 * What a client knows about the outcome of its change: the gateway acknowledged the change, the gateway refused the
 * change, or the outcome is unknown. The outcome of a change is unknown when the client gets no response, a status of
 * 500 or more, or `INTERNAL_ERROR`. If the outcome of a change is unknown, the gateway may have stored the change.
 */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

/**
 * The outcome of each request that creates, updates or removes the whitelist entry of one plate. When a request is
 * refused or its outcome is unknown, the client sends no more requests for the plate of the request.
 */
interface PlateHistory {
  plateNumber: string;
  create: Outcome;
  updates: { note: string; outcome: Outcome }[];
  remove?: Outcome;
}

/** The record of a parking event that a gate sent, with the outcome of the event. */
interface EventHistory {
  eventId: string;
  outcome: Outcome;
}

/** A record of all requests that the test clients sent, with the outcomes of the requests. */
export interface Ledger {
  plates: PlateHistory[];
  events: EventHistory[];
  /** For each gateway in `urls`, the number of requests that the gateway acknowledged. */
  acknowledged: number[];
  /**
   * A list with one text for each request with the outcome `unknown`. Each text in the list describes one request: its
   * time, its method, its path, and the response or the connection error.
   */
  unanswered: string[];
  /** The number of responses to requests with the rate-limited API key. */
  askedOfLimitedKey: number;
  /** The number of requests with the rate-limited API key that the gateways allowed. */
  servedOfLimitedKey: number;
}

/** How many clients send changes at the same time, and how long each client pauses between two requests. */
export interface LoadOptions {
  writers?: number;
  /** The pause of each client between two requests, in milliseconds. */
  pauseMs?: number;
}

/** A group of clients that send changes until the test stops them. */
export interface Load {
  ledger: Ledger;
  /** Stops the clients, and waits until their requests in progress have ended. */
  stop(): Promise<void>;
}

/**
 * The default pause of a client between two requests, in milliseconds. Without this pause, the clients would use too
 * much of the two processor cores, which they share with the gateways and servers.
 */
const defaultPauseMs = 20;
/** The maximum time that a test client waits for a response, in milliseconds. */
const patienceMs = 20_000;
/** If the gateway does not acknowledge a parking event, the gate sends it again at most `maxResends` times. */
const maxResends = 20;

let plateSequence = 0;

/**
 * Returns the id of the object in the `data` of a response. In a GraphQL response, `data` contains only one root field,
 * and the value of this field is the object.
 */
function idOf(data: object): string {
  const holder = 'id' in data ? data : (Object.values(data)[0] as object);
  return (holder as { id: string }).id;
}

interface Answered {
  outcome: Outcome;
  id?: string;
}

/**
 * Starts clients that send changes. Each client sends all its requests to one gateway. A gateway that does not respond
 * therefore delays only the clients of this gateway.
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

  /**
   * Returns whether the gateway refused the connection of a client. If the gateway refused the connection, the client
   * has not sent its request, so the gateway cannot have stored a change.
   */
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
      // When an attempt to record a parking event has an unknown outcome, the gateway may have stored the event. A
      // refusal of a later attempt does not show whether an earlier attempt stored the event. The outcome of the event
      // therefore stays unknown.
      if (resend === 0 || outcome !== 'refused') history.outcome = outcome;
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
