import { type GraphQLSchema, print } from 'graphql';
import type { JsonSchema } from '../../rest/json-schema.ts';
import type { OpenApi, OpenApiOperation } from '../../rest/openapi.ts';
import { type Route, routes } from '../../rest/routes.ts';
import { planOperation } from '../../src/graphql/operation-plan.ts';
import { Json } from './code.tsx';
import type { ExampleOperation } from './graph-operation.ts';
import { Prose } from './markdown.tsx';
import { type Entry, FieldTable, GraphDocument, type Section, typeInWords } from './parts.tsx';
import { ProgramList, restPrograms } from './programs.tsx';
import { bodySchema, type Resolve, sampleOf } from './sample.ts';

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: JsonSchema;
}

interface JsonContent {
  content?: {
    'application/json': { schema: JsonSchema; examples?: Record<string, { value: unknown }> };
  };
}

/**
 * Returns a function that replaces a reference (`$ref`) in an OpenAPI document with the component to which the
 * reference points.
 */
export const resolverOf =
  ({ components }: OpenApi): Resolve =>
  (schema) => {
    const path = (schema.$ref as string | undefined)?.match(/^#\/components\/(\w+)\/(.+)$/);
    return path ? components[path[1]!]![path[2]!]! : schema;
  };

/**
 * Returns the sections about all REST endpoints, with one section for each group of endpoints in the OpenAPI document.
 */
export function restSections(schema: GraphQLSchema, openApi: OpenApi, resolve: Resolve): Section[] {
  const groups = openApi.tags.filter(({ name }) => routes.some((route) => route.tag === name));
  return groups.map(({ name, description }) => ({
    id: `rest-${name.toLowerCase()}`,
    title: name,
    about: description,
    entries: routes
      .filter((route) => route.tag === name)
      .map((route) => endpointEntry(schema, route, openApi, resolve)),
  }));
}

function endpointEntry(schema: GraphQLSchema, route: Route, openApi: OpenApi, resolve: Resolve): Entry {
  const { method, path } = route;
  const operation = openApi.paths[path]![method.toLowerCase()]!;
  const { operationId, summary, description, deprecated } = operation;
  const plan = planOperation(schema, route.document);
  const parameters = operation.parameters as unknown as Parameter[];
  const bodies = examplesOf(operation);
  const [status, success] = Object.entries(operation.responses).find(([code]) => Number(code) < 400)!;
  return {
    id: operationId,
    title: String(summary),
    search: [method, path, summary, description, ...plan.permissions, ...plan.rootFields]
      .join(' ')
      .toLowerCase(),
    content: (
      <>
        <div class="rest">
          <h3>
            <span class={`method ${method.toLowerCase()}`}>{method}</span> <code>/api{path}</code>
          </h3>
          <p class="badges">
            <strong>{String(summary)}</strong>
            {[...plan.permissions].map((permission) => (
              <span class="permission">{permission}</span>
            ))}
            {deprecated && <span class="deprecated">deprecated</span>}
          </p>
          <Prose text={String(description)} />
          <FieldTable
            title="Parameters"
            rows={parameters.map((parameter) => ({
              name: parameter.name,
              type: `in ${parameter.in}, ${typeInWords(parameter.schema)}`,
              required: parameter.required ?? false,
              description: parameter.description,
            }))}
          />
          <BodyFields operation={operation} resolve={resolve} />
          <h4>Example</h4>
          <ProgramList programs={restPrograms(method, path, bodies[0]?.[1])} of="Request" />
          {bodies.slice(1).map(([name, body]) => (
            <details>
              <summary>Another body: {name}</summary>
              <Json value={body} label={`Body ${name}`} />
            </details>
          ))}
          <details>
            <summary>Answer {status}</summary>
            <Json value={sampleOf(bodySchema(success), resolve)} label={`Answer ${status}`} />
          </details>
          <Errors operation={operation} resolve={resolve} />
        </div>
        <GraphDocument
          title="The same on the graph"
          operation={graphOperation(plan.document, route, bodies[0]?.[1])}
        />
      </>
    ),
  };
}

const examplesOf = ({ requestBody }: OpenApiOperation): [string, unknown][] =>
  Object.entries((requestBody as JsonContent | undefined)?.content?.['application/json'].examples ?? {}).map(
    ([name, { value }]) => [name, value],
  );

function BodyFields({ operation, resolve }: { operation: OpenApiOperation; resolve: Resolve }) {
  if (!operation.requestBody) return null;
  const { properties = {}, required = [] } = resolve(bodySchema(operation.requestBody)) as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  return (
    <FieldTable
      title="Body"
      rows={Object.entries(properties).map(([name, property]) => ({
        name,
        type: typeInWords(property),
        required: required.includes(name),
        deprecated: Boolean(property.deprecated),
        description: property.description as string | undefined,
      }))}
    />
  );
}

function Errors({ operation, resolve }: { operation: OpenApiOperation; resolve: Resolve }) {
  const errors = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400);
  return (
    <details>
      <summary>Errors {errors.map(([status]) => status).join(', ')}</summary>
      <dl class="fields">
        {errors.map(([status, response]) => (
          <div>
            <dt>
              <code>{status}</code>
            </dt>
            <dd>
              <Prose text={String(response.description ?? resolve(response).description)} />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

/**
 * Returns a GraphQL document and example variables for the operation that is equivalent to a REST endpoint. The
 * function leaves the variable `locationId` empty. The explorer later inserts the id of a location in the scope of the
 * user's API key.
 */
function graphOperation(
  document: ReturnType<typeof planOperation>['document'],
  route: Route,
  body: unknown,
): ExampleOperation {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name!, ''] as const);
  const variables = {
    ...Object.fromEntries(inPath.filter(([name]) => name !== 'residentId')),
    ...(body !== undefined && { input: body }),
    ...(route.list && { first: 10 }),
    ...(route.path.includes('{residentId}') && { referenceId: 'unit-1204' }),
  };
  return { query: print(document), variables };
}
