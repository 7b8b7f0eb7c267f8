/**
 * The limits on the number of concurrent and waiting tasks of one kind. The limits define how many tasks a process runs
 * at the same time, and how many tasks may wait.
 */
export interface SlotLimits {
  /** A description of the tasks to which the limits apply, for the table in docs/decisions/concurrency.md. */
  task: string;
  /**
   * The kind of owner to which a task belongs, such as an API key. When there are too few slots for all tasks, the
   * owners of the tasks get slots in round-robin order.
   */
  owner: 'key' | 'location' | 'company' | 'client address';
  /** The maximum number of tasks of one owner that may run at the same time. */
  runningPerOwner: number;
  /** The maximum number of tasks that may run at the same time, counted over all owners. */
  running: number;
  /**
   * The limits for tasks that wait for a slot. `perOwner` is the maximum number of waiting tasks of one owner. `maxMs`
   * is the maximum waiting time of a task, in milliseconds. `refusal` is the error message that a client gets when the
   * gateway refuses the task. If `waiting` is omitted, any number of tasks may wait. If `maxMs` is omitted, the waiting
   * time of a task has no limit.
   */
  waiting?: { perOwner: number; maxMs?: number; refusal: string };
  /**
   * How long a task may occupy its slot, in milliseconds. After `holdMs` milliseconds, a task continues without a slot,
   * and a task of another owner can get the slot. A task that runs longer than `holdMs` milliseconds probably does no
   * work but waits, for example for a locked location or a slow client.
   */
  holdMs: number;
  /** Whether the process yields to the event loop before it gives a free slot to the next task. */
  yields: boolean;
  /** The reason why the limits have these values. The table in docs/decisions/concurrency.md shows this reason. */
  reason: string;
}

/**
 * The limits for tasks that need much processor time or memory. A task that needs much processor time or memory
 * releases its slot after 2 s, even if the task has not ended.
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

/**
 * The maximum number of imports of one API key that may wait for a slot. For batches of parking events of one API key,
 * the maximum is the same.
 */
const waitingCalls = 20;

/**
 * The maximum time for which an import or a batch of parking events waits for a slot, in milliseconds. The gateway
 * closes a connection after 125 s without data. A request must not wait longer than 125 s for its slot, because it
 * would then change data after the gateway has closed the connection of the client.
 */
const maxCallWaitMs = 60_000;

/**
 * All limits on concurrent tasks in one process. The table in docs/decisions/concurrency.md contains the same limits.
 * For many kinds of tasks, any number of tasks may wait for a slot. Each waiting task belongs to a request in progress.
 * The slot limits with the name `requests` already limit how many requests are in progress.
 */
export const slotLimits = {
  requests: {
    ...wholeTasks,
    task: 'requests, until the client has read the response (`src/http/guard/requests-in-progress.ts`)',
    owner: 'key',
    runningPerOwner: 50,
    waiting: {
      perOwner: 1_000,
      refusal: 'Too many requests of this API key are waiting, please try again later',
    },
    reason:
      'While a location is locked, the gates of a company send fewer than 1,000 requests. The headers of a waiting request are in memory, but the gateway has not read its body yet.',
  },
  mediumBodies: {
    ...shortTasks,
    task: 'requests with a body of 16 KiB to 1 MiB, for each surface',
    running: 32,
    reason:
      'The 32 request bodies that can hold a slot at the same time take at most 32 MiB of memory together. With fewer slots, requests that wait for a locked location could occupy all slots.',
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
    task: 'reading the rest of a request body after the response was sent',
    owner: 'client address',
    running: 1,
    reason:
      'Without this limit, Node would read the rest of all request bodies as fast as the bytes arrive. This would delay other requests.',
  },
  newDocuments: {
    ...shortTasks,
    task: 'parsing and validation of a GraphQL document that is not in the cache of the process',
    running: 1,
    reason:
      'Parsing one GraphQL document takes tens of milliseconds of processor time, and more slots would not make it faster.',
  },
  heavyQueries: {
    ...shortTasks,
    task: 'GraphQL queries that read the schema, select a heavy field, or have a cost over `maxLightCost`',
    running: 2,
    reason: 'Heavy queries take long and delay other requests.',
  },
  quotaCounts: {
    ...shortTasks,
    task: 'gate decisions: counts of the vehicles that use the quotas of one API key',
    running: 2,
    reason:
      'For a reference with thousands of whitelist entries, a count takes tens of milliseconds. The other connections for gate decisions stay free.',
  },
  listParts: {
    ...shortTasks,
    task: 'database reads of a part of a streamed list, except the first part',
    running: 2,
    reason:
      'The gateway process handles other requests between two parts of a list, even while clients read many long lists.',
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
      'Each import uses a database connection for seconds, and other requests also need connections. While an import waits for the slot, its rows are in memory.',
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
      'Each batch uses a database connection, and other requests also need connections. If a batch of parking events takes longer than 2 s, it is waiting for other changes of the same location. While a batch of parking events waits for the slot, its rows are in memory.',
  },
  /**
   * Callers must first check that the location is in the scope of the API key. Otherwise, an API key could fill the
   * queue of waiting changes for a location of another company.
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
      'Without this limit, a second change of a location would wait for the lock of the location, and would occupy a database connection that other requests need. The gates of a location send fewer than 100 changes at once. PostgreSQL also waits for a lock for at most 8 s. If another program keeps the location locked, each change therefore fails within about 16 s.',
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
      'The limit of 10 host name look-ups is half of the 20 delivery attempts that a company can have at the same time. The host name look-ups of all companies together have no limit. With such a limit, unresponsive name servers of some companies would delay the other companies. Each DNS look-up belongs to a delivery attempt or a request in progress, and a company has fewer than 100 of them in progress.',
  },
} as const satisfies Record<string, SlotLimits>;
