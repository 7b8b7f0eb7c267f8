import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import {
  CreateLocationDocument,
  CreateResidentDocument,
  CreateWhitelistEntryDocument,
  DeleteWhitelistEntryDocument,
  GetLocationStatusDocument,
  HealthDocument,
  ListCompaniesDocument,
  ListLocationsDocument,
  ListLocationStatusesDocument,
  ListResidentsDocument,
  ListWhitelistDocument,
  RegisterCompanyDocument,
  UpdateLocationDocument,
  UpdateWhitelistEntryDocument,
} from './generated/operations.ts';
import { type FormerNames, usesFormerName } from './former-names.ts';

/** The data of a REST request: its path parameters, the first value of each query parameter, and its JSON body. */
export interface RestRequest {
  params: Record<string, string>;
  query: Record<string, string>;
  body: unknown;
  /** Whether the response should contain the equivalent GraphQL request instead of the requested data. */
  asTwin?: boolean;
  /** The value of the request header `If-None-Match`. */
  ifNoneMatch?: string | undefined;
  /** The value of the request header `If-Match`. */
  ifMatch?: string | undefined;
}

/** A page of a list in GraphQL (a connection), with only the fields that REST needs. */
export interface ConnectionPage {
  nodes: readonly unknown[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

/**
 * The data that a GraphQL operation returns when no error occurs. The type `Answered` does not allow null for a root
 * field. A root field is null only when the GraphQL operation has an error.
 */
type Answered<Data> = { [Field in keyof Data]: NonNullable<Data[Field]> };

interface RouteOf<Data, Variables> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path of the endpoint, relative to `/api`. */
  path: string;
  document: TypedDocumentNode<Data, Variables>;
  /** The title of the endpoint in the API reference, and the group (`tag`) that contains the endpoint. */
  summary: string;
  tag: 'Service' | 'Companies' | 'Locations' | 'Whitelist' | 'Residents';
  /**
   * Returns the GraphQL variables that rest/adapter.ts does not add. rest/adapter.ts adds `locationId` and
   * `whitelistId` from the path and, for an endpoint that returns a list, `first` and `after`.
   */
  variables?: (request: RestRequest) => Partial<Record<keyof Variables, unknown>>;
  /**
   * Returns the GraphQL connection (one page of a list) from the data of the GraphQL response. If the client sends
   * `limit` or `cursor`, the REST response contains one page; otherwise, it contains the whole list.
   */
  list?: (data: Answered<Data>) => ConnectionPage;
  /**
   * `hasEntityTag` is true if the endpoint returns a whitelist. The response has an `ETag`, and clients may send this
   * `ETag` in `If-None-Match`.
   */
  hasEntityTag?: true;
  /**
   * Returns the version of the whitelist entry or location in the response. This version becomes the `ETag` of the
   * response.
   */
  versionOf?: (data: Answered<Data>) => number;
  /**
   * Whether the endpoint passes the version in the header `If-Match` to its GraphQL operation as the variable
   * `expectedVersion`. The response has status 412 if the version of the whitelist entry or location differs from
   * `If-Match`.
   */
  takesIfMatch?: true;
  /** Returns the fields of the response envelope, which is the JSON object that contains the data. */
  envelope?: (data: Answered<Data>) => Record<string, unknown>;
  /** Returns the whole response body of an endpoint whose responses have no envelope. */
  bare?: (data: Answered<Data>) => unknown;
  /** The HTTP status of a successful response; the default is 200. */
  status?: 201;
  /** The former names of path parameters and request body fields, which REST still accepts. */
  oldNames?: FormerNames;
  /** The path of the route that replaces a deprecated route, with parameters in braces. */
  successor?: string;
}

/**
 * A REST endpoint (docs/contract.md#endpoints), with the GraphQL document that it runs and the structure of its
 * response.
 */
export type Route = RouteOf<never, never>;

/**
 * Creates a row of the endpoint table. The type parameters make TypeScript check that the functions in `row` use only
 * data and variables of the GraphQL document in `row`.
 */
const route = <Data, Variables>(row: RouteOf<Data, Variables>) => row as unknown as Route;

const body = ({ body: input }: RestRequest) => ({ input });

const filters = ({ query }: RestRequest) => ({
  referenceId: query.referenceId,
  plateType: query.plateType,
});

/**
 * For a REST route with `residents` in its path, converts the request body to the GraphQL variable `input`. The routes
 * with `residents` also accept `residentId`, which clients of versions before 1.3.0 send instead of `referenceId`.
 */
const residentBody = ({ body: input }: RestRequest) => ({
  input: usesFormerName(input, 'residentId', 'referenceId')
    ? { ...input, referenceId: input.residentId }
    : input,
});

/** Returns the name of a route in logs, metrics and usage records. */
export const routeName = ({ method, path }: Pick<Route, 'method' | 'path'>) => `${method} ${path}`;

/** The endpoint table. The endpoint table has one row for each REST endpoint. */
export const routes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/health',
    document: HealthDocument,
    summary: 'Check health',
    tag: 'Service',
    bare: (data) => data.health,
  }),
  route({
    method: 'POST',
    path: '/register/company',
    document: RegisterCompanyDocument,
    summary: 'Register company',
    tag: 'Companies',
    variables: body,
    status: 201,
    envelope: (data) => ({
      message: 'Company registered successfully',
      data: { companyId: data.registerCompany.id },
    }),
  }),
  route({
    method: 'GET',
    path: '/companies',
    document: ListCompaniesDocument,
    summary: 'List companies',
    tag: 'Companies',
    list: (data) => data.companies,
  }),
  route({
    method: 'GET',
    path: '/locations',
    document: ListLocationsDocument,
    summary: 'List locations',
    tag: 'Locations',
    list: (data) => data.locations,
  }),
  route({
    method: 'POST',
    path: '/locations',
    document: CreateLocationDocument,
    summary: 'Create location',
    tag: 'Locations',
    variables: body,
    status: 201,
    envelope: (data) => ({ data: data.createLocation }),
    versionOf: (data) => data.createLocation.version,
  }),
  route({
    method: 'GET',
    path: '/locations/status',
    document: ListLocationStatusesDocument,
    summary: 'List location statuses',
    tag: 'Locations',
    envelope: (data) => ({ data: data.locationStatuses }),
  }),
  route({
    method: 'PUT',
    path: '/locations/{locationId}',
    document: UpdateLocationDocument,
    summary: 'Update location',
    tag: 'Locations',
    variables: body,
    envelope: (data) => ({ data: data.updateLocation }),
    versionOf: (data) => data.updateLocation.version,
    takesIfMatch: true,
  }),
  route({
    method: 'GET',
    path: '/locations/{locationId}/status',
    document: GetLocationStatusDocument,
    summary: 'Get location status',
    tag: 'Locations',
    envelope: (data) => ({ data: data.locationStatus }),
  }),
  route({
    method: 'GET',
    path: '/locations/{locationId}/whitelist',
    document: ListWhitelistDocument,
    summary: 'List whitelist entries',
    tag: 'Whitelist',
    variables: filters,
    list: (data) => data.whitelist,
    hasEntityTag: true,
  }),
  route({
    method: 'POST',
    path: '/locations/{locationId}/whitelist',
    document: CreateWhitelistEntryDocument,
    summary: 'Create whitelist entry',
    tag: 'Whitelist',
    variables: body,
    status: 201,
    envelope: (data) => ({ data: data.createWhitelistEntry }),
    versionOf: (data) => data.createWhitelistEntry.version,
  }),
  route({
    method: 'PUT',
    path: '/locations/{locationId}/whitelist/{whitelistId}',
    document: UpdateWhitelistEntryDocument,
    summary: 'Replace whitelist entry',
    tag: 'Whitelist',
    variables: body,
    envelope: (data) => ({ data: data.updateWhitelistEntry }),
    versionOf: (data) => data.updateWhitelistEntry.version,
    takesIfMatch: true,
  }),
  route({
    method: 'DELETE',
    path: '/locations/{locationId}/whitelist/{whitelistId}',
    document: DeleteWhitelistEntryDocument,
    summary: 'Delete whitelist entry',
    tag: 'Whitelist',
    envelope: (data) => ({
      message: 'Whitelist entry deleted successfully',
      data: { id: data.deleteWhitelistEntry.id },
    }),
    takesIfMatch: true,
  }),
  route({
    method: 'GET',
    path: '/locations/{locationId}/residents',
    document: ListResidentsDocument,
    summary: 'List residents',
    tag: 'Residents',
    variables: filters,
    list: (data) => data.whitelist,
    hasEntityTag: true,
    successor: '/locations/{locationId}/whitelist',
  }),
  route({
    method: 'POST',
    path: '/locations/{locationId}/residents',
    document: CreateResidentDocument,
    summary: 'Create resident',
    tag: 'Residents',
    variables: residentBody,
    oldNames: { residentId: 'referenceId' },
    status: 201,
    envelope: (data) => ({ data: data.createWhitelistEntry }),
    versionOf: (data) => data.createWhitelistEntry.version,
    successor: '/locations/{locationId}/whitelist',
  }),
  route({
    method: 'GET',
    path: '/locations/{locationId}/residents/{residentId}/vehicles',
    document: ListResidentsDocument,
    summary: 'List vehicles of resident',
    tag: 'Residents',
    variables: ({ params, query }) => ({ referenceId: params.residentId, plateType: query.plateType }),
    oldNames: { residentId: 'referenceId' },
    list: (data) => data.whitelist,
    hasEntityTag: true,
    successor: '/locations/{locationId}/whitelist?referenceId={residentId}',
  }),
];
