import type { OperationPlan } from '../src/graphql/operation-plan.ts';
import { argumentSchema, type JsonSchema } from './json-schema.ts';
import { ifMatch } from './preconditions.ts';
import type { Route } from './routes.ts';

/** A parameter of an endpoint, as an OpenAPI document has it. */
type Parameter = Record<string, unknown>;

const ifMatchParameter: Parameter = {
  name: ifMatch.header,
  in: 'header',
  description:
    'The `ETag` of an earlier answer: 412 when it has changed since. `*`, or no header, takes any version.',
  schema: { type: 'string' },
};

const ifNoneMatchParameter: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of an earlier answer: 304 without a body when nothing has changed since.',
  schema: { type: 'string' },
};

/** Path parameters and filters are the variables that a request fills; a list has those of a page besides. */
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
      schema: { type: Array.isArray(type) ? type[0] : type, ...schema }, // a parameter is never null
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

/** The parameters of a page: the graph's `first` and `after` under the names of REST. */
const pageParameters = (first: JsonSchema, after: JsonSchema): Parameter[] => [
  {
    name: 'limit',
    in: 'query',
    description: 'The most items of the page; without it and `cursor` the list is whole.',
    schema: first,
  },
  { name: 'cursor', in: 'query', description: 'The `nextCursor` of the page before.', schema: after },
];
