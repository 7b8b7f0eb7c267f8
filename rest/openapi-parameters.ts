import type { OperationPlan } from '../src/graphql/operation-plan.ts';
import { argumentSchema, type JsonSchema } from './json-schema.ts';
import { ifMatch } from './preconditions.ts';
import type { Route } from './routes.ts';

/** A parameter of an endpoint in an OpenAPI document. */
type Parameter = Record<string, unknown>;

const ifMatchParameter: Parameter = {
  name: ifMatch.header,
  in: 'header',
  description:
    'The value of the header `ETag` in an earlier response with this whitelist entry or location. If the whitelist entry or location has changed since that earlier response, the gateway rejects the request with status 412. If the header `If-Match` is `*` or omitted, the gateway does not check the version.',
  schema: { type: 'string' },
};

const ifNoneMatchParameter: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description:
    'The value of the header `ETag` in an earlier response with this whitelist. If the whitelist has not changed since that earlier response, the gateway responds with status 304 and no body.',
  schema: { type: 'string' },
};

/**
 * Returns the parameters of an endpoint for the OpenAPI document: the parameters in its path and its filters. If the
 * endpoint returns a list, the function also returns the parameters `limit` and `cursor`.
 */
export function parametersOf(route: Route, plan: OperationPlan): Parameter[] {
  const { variableArguments } = plan;
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const named = (names: readonly string[], place: string) =>
    Object.fromEntries(names.map((name) => [name, `${place} ${name}`]));
  const params = named(inPath, 'path');
  const query = named(
    variableArguments.map(({ variable }) => variable),
    'query',
  );
  const variables: Record<string, unknown> = { ...params, ...route.variables?.({ params, query, body: {} }) };
  const parameter = (place: 'path' | 'query', name: string) => {
    const filled = variableArguments.find(({ variable }) => variables[variable] === `${place} ${name}`);
    if (!filled) return [];
    const { type, ...schema } = argumentSchema(filled.argument);
    return {
      name,
      in: place,
      required: place === 'path',
      description: filled.argument.description,
      // the JSON Schema of a parameter has no type `null`, because a query parameter cannot be null
      schema: { type: Array.isArray(type) ? type[0] : type, ...schema },
    };
  };
  const argument = (variable: string) =>
    argumentSchema(variableArguments.find((candidate) => candidate.variable === variable)!.argument);
  return [
    ...inPath.flatMap((name) => parameter('path', name)),
    ...Object.keys(query).flatMap((name) => parameter('query', name)),
    ...(route.list ? pageParameters(argument('first'), argument('after')) : []),
    ...(route.takesIfMatch ? [ifMatchParameter] : []),
    ...(route.hasEntityTag ? [ifNoneMatchParameter] : []),
  ];
}

/**
 * Returns the query parameters `limit` and `cursor` of a list. `limit` has the same meaning as the GraphQL argument
 * `first`, and `cursor` the same meaning as `after`.
 */
const pageParameters = (first: JsonSchema, after: JsonSchema): Parameter[] => [
  {
    name: 'limit',
    in: 'query',
    description:
      'Maximum number of list items in the response. If `limit` and `cursor` are omitted, the response contains the whole list.',
    schema: first,
  },
  {
    name: 'cursor',
    in: 'query',
    description: 'The value of `nextCursor` in the response with the previous page of the list.',
    schema: after,
  },
];
