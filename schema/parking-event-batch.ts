import { z } from 'zod';
import { parseInput } from '../src/errors/faults.ts';
import { listInParts } from '../src/list-in-parts.ts';
import { maxEventsPerCall, type ReadingsResult, type RejectedReading } from '../src/parking/record-batch.ts';
import { builder } from './builder.ts';
import { ParkingEventInput, parkingEventRule, readingOf } from './parking-event.ts';
import { ImportError } from './whitelist-import.ts';

/** The rows are checked one by one, so that a bad one does not keep the good ones out. */
const eventsRule = z
  .array(z.unknown())
  .min(1, 'At least one event is required')
  .max(maxEventsPerCall, `At most ${maxEventsPerCall} events are allowed in one call`);

/** The reading of one row, by the rule of a single event. */
const readEvent = (row: unknown) => readingOf(parseInput(parkingEventRule, row));

const ParkingEventRow = builder.objectRef<RejectedReading>('ParkingEventRow').implement({
  description: 'An event that was rejected.',
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Place of the event in the call, counted from 0.' }),
    error: t.expose('error', { type: ImportError, description: 'Why it was rejected.' }),
  }),
});

const ParkingEventsResult = builder.objectRef<ReadingsResult>('ParkingEventsResult').implement({
  description: 'What became of the events of a call.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'Events of the call.' }),
    recorded: t.exposeInt('recorded', { description: 'Events that are new.' }),
    unchanged: t.exposeInt('unchanged', {
      description: 'Events that were recorded before, value for value.',
    }),
    corrected: t.exposeInt('corrected', {
      description: 'Events that gave another content to an event recorded before.',
    }),
    rejected: t.int({
      description: 'Events that were not taken.',
      resolve: ({ rejected }) => rejected.length,
    }),
    rows: t.field({
      type: [ParkingEventRow],
      description: 'The rejected events, in their order.',
      // Up to 1,000; a fraction, since few events are rejected as a rule.
      complexity: { field: 1, multiplier: 100 },
      resolve: ({ rejected }) => listInParts(rejected),
    }),
  }),
});

builder.mutationField('recordParkingEvents', (t) =>
  t.field({
    type: ParkingEventsResult,
    permission: 'WRITE_ACTIVITY',
    rowsPerPoint: 100,
    description:
      'Records many events of a location, as `recordParkingEvent` would one after the other: for a gate that was offline. Events that break a rule are reported and the others taken. Each batch of 200 (25 on the embedded database) is one transaction; a call that failed can be sent again.',
    args: {
      locationId: t.arg.id({ required: true, description: 'Identifier of the location.' }),
      events: t.arg({
        type: [ParkingEventInput],
        required: true,
        description: `What the gates saw, 1 to ${maxEventsPerCall} events in any order.`,
        validate: eventsRule,
      }),
    },
    resolve: (_, { locationId, events }, context) =>
      context.parking.recordEvents(context, locationId, events, readEvent),
  }),
);
