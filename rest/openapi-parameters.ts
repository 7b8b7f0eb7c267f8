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
    'The `ETag` of an earlier response. If the version has changed since, the response is 412. With `*`, or without the header, any version is accepted.',
  schema: { type: 'string' },
};

const ifNoneMatchParameter: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description:
    'The `ETag` of an earlier response. If nothing has changed since, the response is 304 without a body.',
  schema: { type: 'string' },
};

/**
 * Returns the parameters of an endpoint for OpenAPI: the parameters in its path, its filters, and the page parameters
 * of a list.
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
      // a query parameter cannot be null
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

/** Returns the parameters of a page. `limit` and `cursor` correspond to the GraphQL arguments `first` and `after`. */
const pageParameters = (first: JsonSchema, after: JsonSchema): Parameter[] => [
  {
    name: 'limit',
    in: 'query',
    description:
      'Maximum number of items in the page. Without `limit` and `cursor` the response is the whole list.',
    schema: first,
  },
  { name: 'cursor', in: 'query', description: 'The `nextCursor` of the previous page.', schema: after },
];
