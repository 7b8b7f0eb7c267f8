import { z } from 'zod';
import { parseInput } from '../src/errors/faults.ts';
import { createChunkedList } from '../src/scheduling/chunked-list.ts';
import { maxEventsPerCall, type ReadingsResult, type RejectedReading } from '../src/parking/record-batch.ts';
import { builder } from './builder.ts';
import { ParkingEventInput, parkingEventRule, readingOf } from './parking-event.ts';
import { ImportError } from './whitelist-import.ts';
import { locationIdArg } from './location.ts';

/**
 * The validation rule of the argument `events` checks only the number of parking events. The gateway later validates
 * each parking event separately. One invalid parking event therefore does not prevent the gateway from recording the
 * valid parking events.
 */
const eventsRule = z
  .array(z.unknown())
  .min(1, 'At least one event is required')
  .max(maxEventsPerCall, `At most ${maxEventsPerCall} events are allowed in one call`);

/** Validates one parking event of a batch with the same rules as a parking event that a client sends alone. */
const readEvent = (row: unknown) => readingOf(parseInput(parkingEventRule, row));

const ParkingEventRow = builder.objectRef<RejectedReading>('ParkingEventRow').implement({
  description: 'A parking event that a client sent in a batch, and that the gateway rejected.',
  fields: (t) => ({
    index: t.exposeInt('index', {
      description: 'Position of the parking event in the request, counted from 0.',
    }),
    error: t.expose('error', {
      type: ImportError,
      description: 'The reason why the gateway rejected the parking event.',
    }),
  }),
});

const ParkingEventsResult = builder.objectRef<ReadingsResult>('ParkingEventsResult').implement({
  description: 'The result of `recordParkingEvents`.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'Number of parking events in the request.' }),
    recorded: t.exposeInt('recorded', { description: 'Number of new events.' }),
    unchanged: t.exposeInt('unchanged', {
      description: 'Number of parking events that were already recorded with the same values.',
    }),
    corrected: t.exposeInt('corrected', {
      description:
        'Number of parking events that corrected a recorded parking event with the same `eventId`.',
    }),
    rejected: t.int({
      description: 'Number of rejected events.',
      resolve: ({ rejected }) => rejected.length,
    }),
    rows: t.field({
      type: [ParkingEventRow],
      description: 'The rejected parking events, in the order in which the request contains them.',
      // The cost of the field `rows` is the cost for 100 rejected parking events. A request may contain 1,000 parking
      // events, but in practice the gateway rejects few of them.
      complexity: { field: 1, multiplier: 100 },
      resolve: ({ rejected }) => createChunkedList(rejected),
    }),
  }),
});

builder.mutationField('recordParkingEvents', (t) =>
  t.field({
    type: ParkingEventsResult,
    permission: 'WRITE_ACTIVITY',
    rowsPerPoint: 100,
    description:
      'Records many parking events of a location, for example after a gate was offline. `recordParkingEvents` has the same effect as one call of `recordParkingEvent` for each parking event. If some parking events are invalid, the gateway reports them and records the valid parking events. The gateway records each batch of 200 parking events (25 on the embedded database) in one transaction. If the request fails, the client can safely send the same request again.',
    args: {
      locationId: t.arg.id(locationIdArg),
      events: t.arg({
        type: [ParkingEventInput],
        required: true,
        description: `The parking events to record: 1 to ${maxEventsPerCall}, in any order.`,
        validate: eventsRule,
      }),
    },
    resolve: (_, { locationId, events }, context) =>
      context.services.parking.recordEvents(context, locationId, events, readEvent),
  }),
);
