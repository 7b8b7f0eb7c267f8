import type { PeerName, Side } from './traffic.ts';

// This file defines the benchmark cases that compare the gateway with another server (a peer).

/** A benchmark case that sends the same requests to the gateway and to another server (the peer), under full load. */
export interface ComparedCase {
  /**
   * The name of the benchmark case. The field `traffic` is the name of a kind of requests in `traffic.ts`. If `traffic`
   * is omitted, the benchmark case uses the kind of requests that has the same name as the benchmark case.
   */
  name: string;
  title: string;
  traffic?: string;
  peer: PeerName;
  /** The HTTP statuses that the benchmark expects in the responses of this case. */
  statuses: readonly number[];
  /** The allowed share of responses with a status outside `statuses`; the default is 0. */
  tolerance?: number;
  /**
   * The rounds (short measurements) of this benchmark case are `roundFactor` times as long as the rounds of other
   * benchmark cases. The default is 1. In the benchmark, a round must be several times as long as the response time of
   * a request. The benchmark does not count responses that are incomplete at the end of a round.
   */
  roundFactor?: number;
  /**
   * The goal of the benchmark case: the gateway must answer at least `goal` times as many requests per second as the
   * other server (the peer).
   */
  goal?: number;
  /**
   * Whether the benchmark case has a second goal: the 99th percentile (p99) of the gateway's response times must not be
   * higher than the p99 of the other server (the peer).
   */
  lowerP99?: boolean;
  /**
   * Selects the part of a response body that must be equal in the responses of the gateway and of the other server (the
   * peer). If `data` is omitted, the whole response bodies of the gateway and the peer must be equal.
   */
  data?: Partial<Record<Side, (body: never) => unknown>>;
}

/**
 * In the benchmark case `over-limit`, the gateway refuses almost all requests with status 429. In this benchmark case,
 * the rate limit of the API key allows only one request in each time window. `shareWithinLimit` is the allowed share of
 * responses with a status other than 429.
 */
export const shareWithinLimit = 0.001;

export const comparedCases: readonly ComparedCase[] = [
  { name: 'rest-list', title: 'REST list of 10', peer: 'hand-written', statuses: [200], goal: 0.85 },
  { name: 'rest-create', title: 'REST create', peer: 'hand-written', statuses: [201], goal: 1 },
  { name: 'rest-update', title: 'REST update', peer: 'hand-written', statuses: [200], goal: 1 },
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
    goal: 1,
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
    goal: 1.5,
    lowerP99: true,
    data: { gateway: (body: { data: { plateAccess: unknown } }) => body.data.plateAccess },
  },
  {
    name: 'gate-reading',
    title: 'Gate decision by camera text (peer: REST, by plate)',
    peer: 'hand-written',
    statuses: [200],
    // For gate decisions by plate, the goal is that the gateway is at least 1.5 times as fast as the hand-written
    // service (the peer). A gate decision by camera text (the plate text that a camera read) may take 1.2 times as long
    // as a gate decision by plate. For gate decisions by camera text, the gateway must therefore be at least 1.25 times
    // (1.5 divided by 1.2) as fast as the hand-written service.
    goal: 1.5 / 1.2,
    data: { gateway: (body: { data: { plateAccess: unknown } }) => body.data.plateAccess },
  },
  {
    name: 'list-1000',
    title: 'Whole list of 1,000',
    peer: 'hand-written',
    statuses: [200],
    goal: 1.3,
    roundFactor: 4, // with 50 connections, a response takes up to 1 s
  },
  {
    name: 'mixed',
    title: 'Mixed: 70% gate decisions, 25% lists, 5% creates',
    peer: 'hand-written',
    statuses: [200, 201],
    goal: 1.5,
    data: { gateway: (body: { data: { plateAccess?: unknown } }) => body.data.plateAccess ?? body },
  },
  { name: 'bad-key', title: '401 for an invalid API key', peer: 'node-http-401', statuses: [401], goal: 0.5 },
  {
    name: 'over-limit',
    title: '429 above the rate limit',
    peer: 'node-http-429',
    statuses: [429],
    tolerance: shareWithinLimit,
    goal: 0.5,
  },
];
