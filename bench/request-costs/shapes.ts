import { entries, large } from './world.ts';

/** One HTTP request of the benchmark, which measures the cost of requests. */
export interface ShapeRequest {
  method: string;
  path: string;
  body?: unknown;
}

/**
 * A kind of request whose cost the benchmark measures. When the benchmark repeats the measurement, the function
 * `request` builds a new request each time.
 */
export interface Shape {
  name: string;
  /**
   * True if the contract (docs/contract-keys.md) defines how many rate limit points the request costs. If
   * `priceOfContract` is false, the number of rate limit points depends on the GraphQL fields of the request.
   */
  priceOfContract: boolean;
  request: (run: number) => ShapeRequest;
}

const day = 24 * 3_600_000;
const start = Date.now() - 20 * day;
/** Returns a time as text: the time of the first parking event (20 days ago) plus a number of minutes. */
const at = (minute: number) => new Date(start + minute * 60_000).toISOString();

const plate = (number: number) => ({ plateType: 'DXB', plateCode: 'A', plateNumber: String(number) });
const times = <Value>(count: number, make: (index: number) => Value) =>
  Array.from({ length: count }, (_, index) => make(index));
const aliases = (count: number, field: (index: number) => string) =>
  times(count, (index) => `a${index}: ${field(index)}`).join(' ');

const rest = (name: string, request: Shape['request']): Shape => ({
  name: `REST: ${name}`,
  priceOfContract: true,
  request,
});
const graph = (name: string, query: (run: number) => string, variables?: (run: number) => object): Shape => ({
  name,
  priceOfContract: false,
  request: (run) => ({
    method: 'POST',
    path: '/graphql',
    body: { query: query(run), variables: variables?.(run) ?? {} },
  }),
});

const atPriceOfContract = (shape: Shape): Shape => ({ ...shape, priceOfContract: true });

/**
 * Returns the name and the arguments of a GraphQL field that returns a list (for example the whitelist) of the
 * benchmark's large location. The parameter `rest` contains the other arguments of the field and the closing
 * parenthesis.
 */
const of = (list: string, rest: string) => `${list}(locationId: "${large}"${rest}`;
const entryFields =
  'id locationId referenceId plateType plateCode plateNumber vehicleType note validFrom validUntil version createdAt updatedAt';
const path = `/api/locations/${large}`;

/**
 * Returns the parking events that one request records. `eventBatch` always creates the same parking event for the same
 * event number, so that the benchmark can also send corrections of earlier events.
 */
const eventBatch = (first: number, count: number, values: (index: number) => object = () => ({})) =>
  times(count, (index) => ({
    eventId: `event-${first + index}`,
    kind: (first + index) % 4 === 3 ? 'EXIT' : 'ENTRY',
    // Every fourth parking event of the benchmark is an exit event. Each exit event has the vehicle of the entry event
    // directly before it.
    plate: plate(((first + index) % 4 === 3 ? first + index - 1 : first + index) % entries),
    occurredAt: at(first + index),
    ...values(first + index),
  }));

const record = `mutation ($events: [ParkingEventInput!]!) {
  recordParkingEvents(locationId: "${large}", events: $events) { recorded } }`;
/**
 * Returns a request that records parking events. The benchmark also calls `recordBatch` before its measurements, to
 * fill the database with parking events.
 */
export const recordBatch = (first: number, count: number): ShapeRequest => ({
  method: 'POST',
  path: '/graphql',
  body: { query: record, variables: { events: eventBatch(first, count) } },
});

const rows = (first: number, count: number, note: string) =>
  times(count, (index) => ({ referenceId: 'import', ...plate(first + index), note }));
const importRows = (name: string, mode: string, entriesOf: (run: number) => object[]) =>
  atPriceOfContract(
    graph(
      name,
      () => `mutation ($entries: [WhitelistEntryInput!]!) {
      importWhitelistEntries(locationId: "${large}", mode: ${mode}, entries: $entries) { created } }`,
      (run) => ({ entries: entriesOf(run) }),
    ),
  );

const recordEvents = (name: string, eventsOf: (run: number) => object[]) =>
  atPriceOfContract(
    graph(
      name,
      () => record,
      (run) => ({ events: eventsOf(run) }),
    ),
  );

/**
 * The kinds of requests whose cost the benchmark measures. For each kind, the benchmark sends the request that needs
 * the most processor time per rate limit point.
 */
export const shapes: readonly Shape[] = [
  rest('locations', () => ({ method: 'GET', path: '/api/locations' })),
  rest('status of a location', () => ({ method: 'GET', path: `${path}/status` })),
  rest('statuses of 100 locations', () => ({ method: 'GET', path: '/api/locations/status' })),
  rest('page of 100 whitelist entries', () => ({ method: 'GET', path: `${path}/whitelist?limit=100` })),
  rest('whole list of 10,000 entries', () => ({ method: 'GET', path: `${path}/whitelist` })),
  rest('whole list with a filter, without matches', () => ({
    method: 'GET',
    path: `${path}/whitelist?plateType=AUH&referenceId=none`,
  })),
  rest('creation of a whitelist entry', (run) => ({
    method: 'POST',
    path: `${path}/whitelist`,
    body: { referenceId: 'created', plateType: 'RAK', plateCode: 'A', plateNumber: String(run + 1) },
  })),
  graph('a location', () => `{ location(id: "${large}") { id name } }`),
  graph('a gate decision', (run) => `{ ${gate(`plateNumber: "${run}"`, '')} { allowed } }`),
  graph(
    '30 gate decisions with alternatives and tolerance',
    (run) =>
      `{ ${aliases(30, (index) => `plateAccess(locationId: "${large}", tolerance: 1, reading: { text: "SOBZ ${run}${index}8", alternatives: [${times(10, (other) => `"B0OZ ${run}${index}5${other}"`).join(' ')}] }) { reason candidates { entry { id } } }`)} }`,
  ),
  graph(
    'page of 100 whitelist entries',
    () => `{ ${of('whitelist', ', first: 100)')} { nodes { ${entryFields} } } }`,
  ),
  graph(
    '30 lists without matches',
    (run) =>
      `{ ${aliases(30, (index) => `${of('whitelist', `, plateType: "AUH", plateCode: "Z", plateNumber: "${run}${index}")`)} { nodes { id } }`)} }`,
  ),
  graph(
    '30 lists with two filters, without matches',
    (run) =>
      `{ ${aliases(30, (index) => `${of('whitelist', `, plateType: "DXB", referenceId: "unit-${index}", validAt: "2001-01-01T00:${10 + index}:${10 + (run % 50)}Z")`)} { nodes { id } }`)} }`,
  ),
  graph(
    '30 lists with validAt, without matches',
    (run) =>
      `{ ${aliases(30, (index) => `${of('whitelist', `, first: 1, validAt: "2001-01-01T00:${10 + index}:${10 + (run % 50)}Z")`)} { nodes { id } }`)} }`,
  ),
  graph(
    '30 counts with validAt',
    (run) =>
      `{ ${aliases(30, (index) => `${of('whitelist', `, validAt: "${at(run * 100 + index)}")`)} { totalCount }`)} }`,
  ),
  graph(
    '30 counts of whitelist entries',
    (run) =>
      `{ ${aliases(30, (index) => `${of('whitelist', `, plateType: "DXB", first: ${1 + ((run + index) % 90)})`)} { totalCount }`)} }`,
  ),
  graph(
    '30 counts of events',
    () => `{ ${aliases(30, () => `${of('parkingEvents', ')')} { totalCount }`)} }`,
  ),
  graph(
    '30 counts of sessions',
    () =>
      `{ ${aliases(30, (index) => `${of('parkingSessions', `, open: ${index % 2 === 0})`)} { totalCount }`)} }`,
  ),
  graph('30 counts of the audit log', () => `{ ${aliases(30, () => 'auditLog { totalCount }')} }`),
  graph('page of 100 audit records', () => '{ auditLog(first: 100) { nodes { id action changes } } }'),
  graph(
    'page of 100 events',
    () => `{ ${of('parkingEvents', ', first: 100)')} { nodes { id kind occurredAt } } }`,
  ),
  graph('page of 100 sessions', () => `{ ${of('parkingSessions', ', first: 100)')} { nodes { id state } } }`),
  graph('page of 100 quotas', () => `{ ${of('quotas', ', first: 100)')} { nodes { referenceId used } } }`),
  graph(
    '30 statuses',
    () => `{ ${aliases(30, () => `locationStatus(locationId: "${large}") { occupied }`)} }`,
  ),
  graph('statuses of 100 locations', () => '{ locationStatuses { occupied whitelistedVehicles } }'),
  atPriceOfContract(
    graph(
      'page of the feed with 5,000 entries',
      () => `{ ${of('whitelistChanges', ', first: 5000)')} { cursor upserts { ${entryFields} } } }`,
    ),
  ),
  graph('cursor of the whitelist feed', () => `{ ${of('whitelistCursor', ')')} }`),
  recordEvents('one event', (run) => eventBatch(20_000 + run, 1)),
  recordEvents('batch of 100 events', (run) => eventBatch(21_000 + run * 100, 100)),
  recordEvents('batch of 100 corrections', (run) =>
    eventBatch(run * 100, 100, (number) => ({ occurredAt: at(number - 0.5) })),
  ),
  graph(
    'setInside with 1,000 plates',
    () => `mutation ($plates: [PlateInput!]!, $at: DateTime) {
      setInside(locationId: "${large}", plates: $plates, at: $at) { occupied } }`,
    (run) => ({ plates: times(1_000, (index) => plate(run * 10 + index)), at: at(25_000 + run) }),
  ),
  graph(
    'adjustOccupancy',
    (run) => `mutation { adjustOccupancy(locationId: "${large}", occupied: ${run + 10}) { occupied } }`,
  ),
  rest('status after adjustOccupancy', () => ({ method: 'GET', path: `${path}/status` })),
  graph(
    'updateLocation(longestStayHours)',
    (run) =>
      `mutation { updateLocation(id: "${large}", input: { longestStayHours: ${1 + (run % 2) * 100} }) { id } }`,
  ),
  importRows('import of 1,000 new rows', 'CREATE', (run) => rows(100_000 + run * 1_000, 1_000, 'new')),
  importRows('import of 1,000 changed rows', 'UPSERT', (run) => rows(100_000, 1_000, `note ${run}`)),
  importRows('import of 1,000 unchanged rows', 'UPSERT', () => rows(100_000, 1_000, 'equal')),
];

function gate(values: string, rest: string): string {
  return `plateAccess(locationId: "${large}"${rest}, plate: { plateType: "DXB", plateCode: "A", ${values} })`;
}
