import { expect } from 'vitest';
import { newId } from '../../src/ids.ts';
import type { TestGateway } from './harness.ts';

/**
 * A parking event that a test records. The field `plate` contains a plate such as `DXB/A/7`, or the text that a camera
 * read.
 */
export interface Seen {
  eventId?: string;
  kind: 'ENTRY' | 'EXIT';
  plate: string;
  at: Date | string;
  /** The plate type, if the camera sent it separately from the text of the plate. */
  plateType?: string;
  /** The id of the whitelist entry that allowed the vehicle to enter. */
  entryId?: string;
}

/** Splits the text of a plate, such as `DXB/A/7`, into the type, code and number of the plate. */
export function plateOf(text: string) {
  const [plateType = '', plateCode = '', plateNumber = ''] = text.split('/');
  return { plateType, plateCode, plateNumber };
}

/** Returns the GraphQL input of a parking event. */
function inputOf({ eventId = newId(), kind, plate, plateType, at, entryId }: Seen) {
  const read = plate.includes('/') ? { plate: plateOf(plate) } : { reading: { text: plate, plateType } };
  return { eventId, kind, ...read, occurredAt: new Date(at).toISOString(), entryId };
}

/**
 * Creates functions that use the given API key to record parking events, and to read parking sessions and the occupancy
 * of a location.
 */
export function openActivity(gateway: TestGateway, key: string) {
  /** Runs a GraphQL operation and returns the value of its only root field, or the `extensions` of its error. */
  async function ask(operation: string, variables: Record<string, unknown>) {
    const { body } = await gateway.graph(operation, { key, variables });
    return body.errors?.[0].extensions ?? Object.values(body.data)[0];
  }

  return {
    ask,
    async see(locationId: string, ...events: Seen[]) {
      for (const event of events) {
        const recorded = await ask(
          `mutation ($locationId: ID!, $input: ParkingEventInput!) {
            recordParkingEvent(locationId: $locationId, input: $input) { id } }`,
          { locationId, input: inputOf(event) },
        );
        expect(recorded).toMatchObject({ id: expect.any(String) });
      }
    },
    /**
     * Records parking events with one request. One request with all parking events is much faster than one request for
     * each parking event.
     */
    async seeTogether(locationId: string, events: readonly Seen[]) {
      const recorded = await ask(
        `mutation ($locationId: ID!, $events: [ParkingEventInput!]!) {
          recordParkingEvents(locationId: $locationId, events: $events) { total rows { error { message } } } }`,
        { locationId, events: events.map(inputOf) },
      );
      expect(recorded).toEqual({ total: events.length, rows: [] });
    },
    /** Puts a vehicle such as `DXB/A/7` on the whitelist, and returns the id of its whitelist entry. */
    async list(locationId: string, plate: string): Promise<string> {
      const input = { referenceId: 'unit-7', ...plateOf(plate) };
      const { id } = await ask(
        `mutation ($locationId: ID!, $input: WhitelistEntryInput!) {
          createWhitelistEntry(locationId: $locationId, input: $input) { id } }`,
        { locationId, input },
      );
      return id;
    },
    /** Removes an entry from the whitelist of a location. */
    unlist: (locationId: string, id: string) =>
      ask(
        'mutation ($locationId: ID!, $id: ID!) { deleteWhitelistEntry(locationId: $locationId, id: $id) { id } }',
        { locationId, id },
      ),
    /** Changes a location. */
    change: (id: string, input: Record<string, unknown>) =>
      ask(
        'mutation ($id: ID!, $input: UpdateLocationInput!) { updateLocation(id: $id, input: $input) { longestStayHours } }',
        { id, input },
      ),
    /** Sets which vehicles are inside a location, and returns the new occupancy. */
    setInside: (locationId: string, plates: readonly string[], at: Date) =>
      ask(
        `mutation ($locationId: ID!, $plates: [PlateInput!]!, $at: DateTime) {
          setInside(locationId: $locationId, plates: $plates, at: $at) { occupied adjustment } }`,
        { locationId, plates: plates.map(plateOf), at },
      ),
    /** Sets the number of vehicles inside a location, and returns the new occupancy. */
    adjust: (locationId: string, occupied: number, at: Date) =>
      ask(
        `mutation ($locationId: ID!, $occupied: Int!, $at: DateTime) {
          adjustOccupancy(locationId: $locationId, occupied: $occupied, at: $at) { occupied adjustment } }`,
        { locationId, occupied, at },
      ),
    /**
     * Returns a sorted list with one text for each parking session of a location. Each text contains the plate, the
     * state and the times of one parking session.
     */
    async sessions(id: string, open?: boolean): Promise<string[]> {
      const { sessions } = await ask(
        `query ($id: ID!, $open: Boolean) { location(id: $id) { sessions(open: $open, first: 100) {
          nodes { plateType plateCode plateNumber state open enteredAt exitedAt } } } }`,
        { id, open },
      );
      return sessions.nodes
        .map(
          ({ plateType, plateCode, plateNumber, state, open: isOpen, enteredAt, exitedAt }: SessionNode) => {
            expect(isOpen).toBe(state === 'OPEN');
            const time = (instant: string | null) => instant?.slice(5, 16) ?? '-';
            return `${plateType}/${plateCode}/${plateNumber} ${state} ${time(enteredAt)} ${time(exitedAt)}`;
          },
        )
        .sort();
    },
    /** Reads the status of a location over REST; the status contains the number of vehicles inside. */
    async status(locationId: string) {
      const { body } = await gateway.rest('GET', `/locations/${locationId}/status`, { key });
      return body.data as { occupied: number; state: string };
    },
  };
}

type SessionNode = Record<
  'plateType' | 'plateCode' | 'plateNumber' | 'state' | 'enteredAt' | 'exitedAt',
  string
> & { open: boolean };

/** Returns the actions of the audit records of a location, oldest first. */
export const actionsAt = async ({ database }: TestGateway, locationId: string) =>
  (await database.prisma.auditRecord.findMany({ where: { locationId }, orderBy: { id: 'asc' } })).map(
    ({ action }) => action,
  );
