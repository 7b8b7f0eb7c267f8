import { getNamedType, type GraphQLArgument, type GraphQLSchema } from 'graphql';
import packageJson from '../package.json' with { type: 'json' };
import type { ErrorCode } from '../src/errors/error-table.ts';
import { type OperationPlan, planOperation } from '../src/graphql/operation-plan.ts';
import { describeData } from './data-schema.ts';
import { argumentSchema, type Components, type JsonSchema, objectSchema, reference } from './json-schema.ts';
import { parametersOf } from './openapi-parameters.ts';
import {
  brownoutHeaders,
  challengeHeaders,
  deprecationHeaders,
  errorDetails,
  errorResponse,
  errorResponses,
  everyHeaders,
  headerReferences,
  json,
  retryHeaders,
  sharedErrorResponses,
  validatorHeaders,
  versionHeaders,
} from './openapi-responses.ts';
import { examples, introduction, tags } from './openapi-text.ts';
import { describeWebhooks, webhooksAbout, webhookTag } from './openapi-webhooks.ts';
import { ifMatch, preconditionFailed } from './preconditions.ts';
import { type Route, routes } from './routes.ts';

/** An OpenAPI 3.1 document. */
export interface OpenApi {
  openapi: string;
  info: Record<string, unknown>;
  servers: { url: string; description: string }[];
  security: Record<string, string[]>[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  /** The messages that the gateway posts to webhook receivers, by message type. */
  webhooks: Record<string, Record<string, JsonSchema>>;
  components: Record<string, Record<string, JsonSchema>>;
}

/** The description of one endpoint in an OpenAPI document. */
export interface OpenApiOperation {
  operationId: string;
  deprecated?: true;
  parameters: Record<string, unknown>[];
  requestBody?: Record<string, unknown>;
  responses: Record<string, JsonSchema>;
  [more: string]: unknown;
}

/**
 * Creates the OpenAPI document of the REST API. The OpenAPI document is generated from the endpoint table, the error
 * table, the validation rules of the arguments, and the GraphQL documents of the endpoints. The descriptions in the
 * OpenAPI document come from the GraphQL schema.
 */
export function createOpenApi(schema: GraphQLSchema): OpenApi {
  const schemas: Components = { ErrorDetails: errorDetails };
  const paths: OpenApi['paths'] = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    paths[route.path]![route.method.toLowerCase()] = describeRoute(schema, route, schemas);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parking gateway',
      version: packageJson.version,
      description: introduction,
      contact: { name: 'The operator who issued the key' },
      license: { name: 'Not licensed for use by others', identifier: 'LicenseRef-Unlicensed' },
    },
    servers: [{ url: '/api', description: 'This environment.' }],
    security: [{ apiKey: [] }],
    tags: Object.entries({ ...tags, [webhookTag]: webhooksAbout }).map(([name, description]) => ({
      name,
      description,
    })),
    paths,
    webhooks: describeWebhooks(schemas),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'The API key of the client.',
        },
      },
      headers: {
        ...everyHeaders,
        ...challengeHeaders,
        ...retryHeaders,
        ...validatorHeaders,
        ...deprecationHeaders,
        ...brownoutHeaders,
      },
      responses: sharedErrorResponses(),
      schemas,
    },
  };
}

function describeRoute(schema: GraphQLSchema, route: Route, schemas: Components): OpenApiOperation {
  const { method, summary, tag, status = 200, successor, hasEntityTag, versionOf, takesIfMatch } = route;
  const plan = planOperation(schema, route.document);
  const description = [
    describeRoots(schema, plan),
    ...[...plan.permissions].map((permission) => `Needs the permission \`${permission}\`.`),
    ...(successor ? [`Deprecated: use \`${successor}\`.`] : []),
  ].join('\n\n');
  const parameters = parametersOf(route, plan);
  const input = plan.variableArguments.find(({ variable }) => variable === 'input')?.argument;
  const codes = codesOf({ parameters, input, plan });
  const headers = {
    ...headerReferences({
      ...everyHeaders,
      ...(hasEntityTag && validatorHeaders),
      ...(successor && deprecationHeaders),
    }),
    ...(versionOf && versionHeaders),
  };
  return {
    operationId: camelCase(summary),
    summary,
    description,
    tags: [tag],
    ...(successor && { deprecated: true as const }),
    parameters,
    ...(input && { requestBody: requestBody(route, input, schemas) }),
    responses: {
      [status]: {
        description: status === 201 ? 'Created.' : 'Done.',
        headers,
        content: json({ schema: answerSchema(schema, route, schemas) }),
      },
      ...(hasEntityTag && {
        304: {
          description:
            'The whitelist has not changed since the client received the `ETag` in `If-None-Match`.',
          headers,
        },
      }),
      ...errorResponses(codes),
      ...(takesIfMatch && {
        [preconditionFailed]: {
          ...reference('responses', 'CONFLICT'),
          description:
            'The current version of the whitelist entry or location differs from the `ETag` in `If-Match`. The field `details.value` of the error contains the current version.',
        },
      }),
      ...(successor && {
        410: {
          ...errorResponse(['NOT_FOUND']),
          description:
            'The operator has temporarily switched off this deprecated path. The header `Brownout` contains the time when the path becomes available again.',
          headers: headerReferences({ ...everyHeaders, ...deprecationHeaders, ...brownoutHeaders }),
        },
      }),
      ...((method === 'POST' || method === 'PUT') && {
        413: { ...reference('responses', 'VALIDATION_ERROR'), description: 'The body is larger than 1 MiB.' },
        415: {
          ...reference('responses', 'VALIDATION_ERROR'),
          description: 'The body is not sent as `application/json`.',
        },
      }),
    },
  };
}

/**
 * Returns the description of an endpoint, which is the description of the GraphQL root fields that the endpoint uses.
 */
function describeRoots(schema: GraphQLSchema, { operation, rootFields }: OperationPlan): string {
  const fields = schema.getRootType(operation.operation)!.getFields();
  return rootFields.map((name) => fields[name]!.description).join('\n\n');
}

/** Converts words to a name in camel case: `Register company` → `registerCompany` */
const camelCase = (words: string) =>
  words[0]!.toLowerCase() + words.slice(1).replace(/ (\w)/g, (_, letter: string) => letter.toUpperCase());

/**
 * Returns the error codes that an endpoint can return. Every endpoint can return a few common error codes. An endpoint
 * can return more error codes, depending on its parameters, its body and its GraphQL fields.
 */
function codesOf({
  parameters,
  input,
  plan,
}: {
  parameters: readonly { in?: unknown; name?: unknown }[];
  input: GraphQLArgument | undefined;
  plan: OperationPlan;
}): ErrorCode[] {
  const codes = new Set<ErrorCode>([
    'UNAUTHORIZED',
    'RATE_LIMIT_EXCEEDED',
    'INTERNAL_ERROR',
    ...plan.errorCodes,
  ]);
  if (plan.permissions.size > 0) codes.add('FORBIDDEN');
  if (parameters.some((parameter) => parameter.in === 'path')) codes.add('NOT_FOUND');
  const isChecked = (parameter: (typeof parameters)[number]) =>
    parameter.in === 'query' || parameter.name === ifMatch.header;
  if (input || parameters.some(isChecked)) codes.add('VALIDATION_ERROR');
  return [...codes];
}

function requestBody({ oldNames = {} }: Route, input: GraphQLArgument, schemas: Components) {
  const { name } = getNamedType(input.type);
  const schema = (schemas[name] = argumentSchema(input));
  const renamed = Object.entries(oldNames).reduce(
    (body, [oldName, newName]) => withOldName(body, oldName, newName),
    schema,
  );
  return {
    required: true,
    content: json({
      schema: renamed === schema ? reference('schemas', name) : renamed,
      examples: Object.fromEntries(
        Object.entries(examples[name] ?? {}).map(([key, value]) => [key, { value }]),
      ),
    }),
  };
}

/**
 * Returns the JSON Schema of a request body in which a required field was renamed. The request body must contain the
 * renamed field, under either its current name or its former name. A request body with the former field name may also
 * contain the current field name with the value null, because the gateway treats this null like a missing field.
 */
function withOldName(schema: JsonSchema, oldName: string, newName: string): JsonSchema {
  const properties = schema.properties as Record<string, JsonSchema>;
  return {
    ...schema,
    properties: {
      ...properties,
      [newName]: { anyOf: [properties[newName], { type: 'null' }] },
      [oldName]: { ...properties[newName], deprecated: true, description: `Former name of \`${newName}\`.` },
    },
    required: (schema.required as string[]).filter((name) => name !== newName),
    anyOf: [{ required: [newName], properties: { [newName]: properties[newName] } }, { required: [oldName] }],
  };
}

/**
 * Returns the JSON Schema for the body of a successful response. Each endpoint has a function that creates its response
 * bodies. `answerSchema` calls this function of the endpoint with placeholders instead of real values. In the resulting
 * response body, `answerSchema` replaces each placeholder with the JSON Schema of the value.
 */
function answerSchema(schema: GraphQLSchema, route: Route, schemas: Components): JsonSchema {
  const { data, schemaOf } = describeData(schema, route.document, schemas);
  if (route.bare) return schemaOf(route.bare(data as never));
  const success = { type: 'boolean', const: true };
  if (route.list) {
    const { nodes } = route.list(data as never);
    const nextCursor = {
      type: ['string', 'null'],
      description:
        'The cursor of the next page of the list, or null on the last page. `nextCursor` is omitted if the request has neither `limit` nor `cursor`.',
    };
    return objectSchema({ success, data: schemaOf(nodes), nextCursor }, { optional: ['nextCursor'] });
  }
  const fields = Object.entries(route.envelope!(data as never)).map(([name, part]) => [name, schemaOf(part)]);
  return objectSchema({ success, ...Object.fromEntries(fields) });
}
