/**
 * The limits for one kind of task. The limits define how many tasks a process runs at the same time, and how many tasks
 * may wait.
 */
export interface SlotLimits {
  /** A description of the tasks to which the limits apply, for the table in docs/decisions/concurrency.md. */
  task: string;
  /**
   * The kind of owner to which a task belongs, such as an API key. When there are too few slots for all tasks, the
   * owners of the tasks get slots in round-robin order.
   */
  owner: 'key' | 'location' | 'company' | 'client address';
  /** The maximum number of tasks of one owner that run at the same time. */
  runningPerOwner: number;
  /** The maximum number of tasks of all owners together that run at the same time. */
  running: number;
  /**
   * The limits for waiting tasks. `perOwner` is the maximum number of waiting tasks of one owner. `maxMs` is the
   * maximum waiting time of a task, in milliseconds. `refusal` is the error message for a refused task. If `waiting` is
   * omitted, any number of tasks may wait. If `maxMs` is omitted, the waiting time of a task has no limit.
   */
  waiting?: { perOwner: number; maxMs?: number; refusal: string };
  /**
   * How long a task may occupy its slot, in milliseconds. After `holdMs` milliseconds, a task continues without a slot,
   * so that tasks of other owners can start. A task that takes longer than `holdMs` is probably waiting, for example
   * for a locked location or a slow client.
   */
  holdMs: number;
  /** Whether the process yields to the event loop before it gives a free slot to the next task. */
  yields: boolean;
  /** The reason why the slot limits have these values. */
  reason: string;
}

/**
 * The limits for tasks that need much processor time or memory. A task releases its slot after 2 s, even if the task
 * has not ended.
 */
const shortTasks = {
  owner: 'key',
  runningPerOwner: 1,
  holdMs: 2_000,
  yields: true,
} as const;

/**
 * The limits for tasks that wait for the database or for another server. A task occupies its slot until the task ends.
 */
const wholeTasks = { runningPerOwner: 1, running: Infinity, holdMs: Infinity, yields: false } as const;

/** The maximum number of waiting requests with many rows, for each API key. */
const waitingCalls = 20;

/**
 * The maximum waiting time of a request with many rows, in milliseconds. The gateway closes a connection after 125 s
 * without data. A request that waits longer than 125 s would change data although its client is already disconnected.
 */
const maxCallWaitMs = 60_000;

/**
 * All limits on concurrent tasks in one process, which are also in the table in docs/decisions/concurrency.md. Many
 * kinds of tasks have no limit on waiting tasks, because each waiting task belongs to a request in progress. The slot
 * limits `requests` already limit the number of requests in progress.
 */
export const slotLimits = {
  requests: {
    ...wholeTasks,
    task: 'requests until their response is read (`src/http/guard/requests-in-progress.ts`)',
    owner: 'key',
    runningPerOwner: 50,
    waiting: {
      perOwner: 1_000,
      refusal: 'Too many requests of this API key are waiting, please try again later',
    },
    reason:
      'While a location is locked, the gates of a company send fewer than 1,000 requests. A waiting request holds its connection and headers; its body is not read yet.',
  },
  mediumBodies: {
    ...shortTasks,
    task: 'requests with a body of 16 KiB to 1 MiB, for each surface',
    running: 32,
    reason:
      'The bodies in all slots take at most 32 MiB together. Some of these requests may wait for a locked location.',
  },
  largeBodies: {
    ...shortTasks,
    task: 'requests with a body over 1 MiB',
    running: 2,
    waiting: {
      perOwner: 10,
      refusal: 'Too many large requests of this API key are waiting, please try again later',
    },
    reason:
      'Each request with a large body takes about 50 MiB of memory. The process does not read the body of a request that waits for a slot.',
  },
  unreadBodies: {
    ...shortTasks,
    task: 'reads of the rest of a request body after the response',
    owner: 'client address',
    running: 1,
    reason:
      'Without this limit, Node would read the rest of all bodies as fast as the bytes arrive, which would delay other requests.',
  },
  newDocuments: {
    ...shortTasks,
    task: 'parsing and validation of a new GraphQL document',
    running: 1,
    reason:
      'A new document takes tens of milliseconds of processor time, and more slots would not make parsing faster.',
  },
  heavyQueries: {
    ...shortTasks,
    task: 'queries that cost more than `maxLightCost`, read the schema, or select a heavy field',
    running: 2,
    reason: 'Heavy queries take long and delay other requests.',
  },
  listParts: {
    ...shortTasks,
    task: 'database reads of a later part of a streamed list',
    running: 2,
    reason: 'Other requests run between two parts of a list, even while clients read many long lists.',
  },
  largeValueReads: {
    ...shortTasks,
    task: 'reads of a large JSON value',
    running: 1,
    reason: 'To read a large JSON value, the process needs several times the size of the value in memory.',
  },
  largeValueWrites: {
    ...shortTasks,
    task: 'writes of a large JSON value to a client',
    running: Infinity,
    reason: 'A large JSON value stays in memory until the client has read it.',
  },
  imports: {
    ...wholeTasks,
    task: 'imports of whitelist entries',
    owner: 'key',
    running: 2,
    waiting: {
      perOwner: waitingCalls,
      maxMs: maxCallWaitMs,
      refusal: `More than ${waitingCalls} imports of this key are waiting, or earlier imports take too long, please try again later`,
    },
    reason:
      'Each import holds a database connection for seconds, and other requests also need connections. A waiting import holds its rows in memory.',
  },
  eventBatches: {
    ...shortTasks,
    yields: false,
    task: 'batches of parking events',
    running: 2,
    waiting: {
      perOwner: waitingCalls,
      maxMs: maxCallWaitMs,
      refusal: `More than ${waitingCalls} batches of this key are waiting, or earlier batches take too long, please try again later`,
    },
    reason:
      'Each batch holds a database connection, and other requests also need connections. A batch that takes longer than 2 s is waiting for its location. A waiting batch holds its rows in memory.',
  },
  /**
   * Callers must first check that the location is in the scope of the API key, so that an API key cannot fill the queue
   * of another company's location.
   */
  locationChanges: {
    ...wholeTasks,
    task: 'changes that lock a location: events, imports, counts, quotas and settings',
    owner: 'location',
    waiting: {
      perOwner: 100,
      maxMs: 8_000,
      refusal:
        'Too many changes of this location are waiting, or earlier changes take too long, please try again later',
    },
    reason:
      'A second change of a location would wait for the lock, and would hold a connection that other requests need. The gates of a location send fewer than 100 changes at once. PostgreSQL also waits for a lock for at most 8 s. While another program locks the location, each change is therefore answered within about 16 s.',
  },
  nameLookups: {
    ...wholeTasks,
    task: 'look-ups of the host names of webhooks',
    owner: 'company',
    runningPerOwner: 10,
    waiting: {
      perOwner: 100,
      refusal: 'Too many lookups of host names are in progress for this company',
    },
    reason:
      '10 look-ups are half of the concurrent deliveries of a company. All companies together have no limit, because unresponsive name servers of some companies would then delay the other companies. Each look-up belongs to an attempt or request in progress, and a company has fewer than 100 attempts and requests in progress.',
  },
} as const satisfies Record<string, SlotLimits>;
