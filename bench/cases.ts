import type { PeerName, Side } from './traffic.ts';

// This file defines the cases that compare the gateway with another server (a peer).

/** A case that measures the gateway and a peer under full load with the same requests. */
export interface ComparedCase {
  /** The name of the case. It is also the name of the requests, unless `traffic` is given. */
  name: string;
  title: string;
  traffic?: string;
  peer: PeerName;
  /** The HTTP statuses that a response of this case may have. */
  statuses: readonly number[];
  /** The accepted share of responses with other statuses; the default is 0. */
  tolerance?: number;
  /** The goal of the case: the gateway's requests per second must be at least this many times the peer's. */
  goal?: number;
  /** Whether the 99th percentile (p99) of the gateway's response times must be lower than the peer's p99. */
  lowerP99?: boolean;
  /**
   * Selects the part of each response body that must be equal for the gateway and the peer. By default, it is the whole
   * body.
   */
  data?: Partial<Record<Side, (body: never) => unknown>>;
}

export const comparedCases: readonly ComparedCase[] = [
  { name: 'rest-list', title: 'REST list of 10', peer: 'hand-written', statuses: [200], goal: 0.85 },
  { name: 'rest-create', title: 'REST create', peer: 'hand-written', statuses: [201], goal: 0.85 },
  { name: 'rest-update', title: 'REST update', peer: 'hand-written', statuses: [200], goal: 0.85 },
  {
    name: 'rest-status',
    title: 'REST status of 100 locations',
    peer: 'hand-written',
    statuses: [200],
  },
  {
    name: 'rest-list-sofa',
    title: 'REST list of 10 (REST over GraphQL)',
    traffic: 'rest-list',
    peer: 'sofa',
    statuses: [200],
    goal: 2,
    data: {
      gateway: (body: { data: unknown }) => body.data,
      sofa: (body: { nodes: unknown }) => body.nodes,
    },
  },
  {
    name: 'graphql-list',
    title: 'GraphQL list of 10, nested',
    peer: 'postgraphile',
    statuses: [200],
    goal: 2,
  },
  {
    name: 'graphql-create',
    title: 'GraphQL create (peer: REST)',
    peer: 'hand-written',
    statuses: [200, 201],
    data: {
      gateway: (body: { data: { createWhitelistEntry: unknown } }) => body.data.createWhitelistEntry,
      'hand-written': (body: { data: unknown }) => body.data,
    },
  },
  {
    name: 'gate',
    title: 'Gate decision (peer: REST)',
    peer: 'hand-written',
    statuses: [200],
    goal: 1.3,
    lowerP99: true,
    data: { gateway: (body: { data: { plateAccess: unknown } }) => body.data.plateAccess },
  },
  {
    name: 'gate-reading',
    title: 'Gate decision by the text of a camera (peer: REST, by parts)',
    peer: 'hand-written',
    statuses: [200],
    goal: 1.3 / 1.2, // at most 1.2 times the cost of a decision about the parts of a plate
    data: { gateway: (body: { data: { plateAccess: unknown } }) => body.data.plateAccess },
  },
  { name: 'list-1000', title: 'Whole list of 1,000', peer: 'hand-written', statuses: [200], goal: 1 },
  {
    name: 'mixed',
    title: 'Mixed: 70% gate, 25% lists, 5% creates',
    peer: 'hand-written',
    statuses: [200, 201],
    data: { gateway: (body: { data: { plateAccess?: unknown } }) => body.data.plateAccess ?? body },
  },
  { name: 'bad-key', title: '401 for a bad key', peer: 'node-http-401', statuses: [401], goal: 0.5 },
  {
    name: 'over-limit',
    title: '429 over the limit',
    peer: 'node-http-429',
    statuses: [429],
    tolerance: 0.001, // the rate limit allows one request in each window, which succeeds
    goal: 0.5,
  },
];
