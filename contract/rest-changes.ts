import type { BreakingChange } from './breaking-change.ts';
import { schemaChanges } from './schema-changes.ts';
import type { Document, MediaTypes, Operation, Parameter, Reference, Response } from './openapi-document.ts';
import { resolveReference } from './openapi-document.ts';

const methods = ['get', 'put', 'post', 'delete', 'patch'] as const;

/**
 * Compares the structure of two OpenAPI 3.1 documents: paths, methods, parameters, bodies, statuses, headers and
 * properties. The comparison ignores the descriptions and regular expressions in the OpenAPI documents. It ignores
 * regular expressions, because a program cannot easily decide whether a new expression accepts every text that the old
 * one accepted.
 */
export function breakingRestChanges(released: Document, current: Document): BreakingChange[] {
  const changes: BreakingChange[] = [];
  const report = (path: string, message: string, isRemoval = false) =>
    changes.push({ path, message, isRemoval });

  for (const [path, releasedItem] of Object.entries(released.paths)) {
    for (const method of methods) {
      const before = releasedItem[method];
      if (!before) continue;
      const name = `${method.toUpperCase()} ${path}`;
      const currentItem = current.paths[path];
      const after = currentItem?.[method];
      if (!after) {
        report(name, 'The operation is gone.', true);
        continue;
      }
      compareParameters(
        name,
        [...(releasedItem.parameters ?? []), ...(before.parameters ?? [])],
        [...(currentItem.parameters ?? []), ...(after.parameters ?? [])],
      );
      compareRequestBodies(name, before, after);
      for (const [status, response] of Object.entries(before.responses)) {
        compareResponses(`${name} ${status}`, response, after.responses[status]);
      }
    }
  }
  return changes;

  function compareParameters(
    name: string,
    before: (Parameter | Reference)[],
    after: (Parameter | Reference)[],
  ) {
    const keyOf = (parameter: Parameter) => `${parameter.in} ${parameter.name}`;
    const releasedByKey = new Map(
      before.map((item) => resolveReference(released, item)).map((item) => [keyOf(item), item]),
    );
    const currentByKey = new Map(
      after.map((item) => resolveReference(current, item)).map((item) => [keyOf(item), item]),
    );
    for (const [key, parameter] of currentByKey) {
      const path = `${name} parameter ${parameter.name}`;
      const earlier = releasedByKey.get(key);
      if (parameter.required && !earlier?.required) report(path, 'The parameter is required now.');
      if (earlier?.schema && parameter.schema) {
        compareSchemas(path, 'request', earlier.schema, parameter.schema);
      }
    }
    for (const [key, parameter] of releasedByKey) {
      if (!currentByKey.has(key))
        report(`${name} parameter ${parameter.name}`, 'The parameter is gone.', true);
    }
  }

  function compareRequestBodies(name: string, before: Operation, after: Operation) {
    const releasedBody = before.requestBody && resolveReference(released, before.requestBody);
    const currentBody = after.requestBody && resolveReference(current, after.requestBody);
    if (currentBody?.required && !releasedBody?.required) report(`${name} body`, 'A body is required now.');
    if (releasedBody) compareContents(`${name} body`, 'request', releasedBody.content, currentBody?.content);
  }

  function compareResponses(
    name: string,
    before: Response | Reference,
    after: Response | Reference | undefined,
  ) {
    if (!after) {
      report(name, 'The status is gone.', true);
      return;
    }
    const releasedResponse = resolveReference(released, before);
    const currentResponse = resolveReference(current, after);
    for (const header of Object.keys(releasedResponse.headers ?? {})) {
      if (!currentResponse.headers?.[header]) report(`${name} header ${header}`, 'The header is gone.', true);
    }
    compareContents(name, 'response', releasedResponse.content, currentResponse.content);
  }

  function compareContents(
    name: string,
    direction: 'request' | 'response',
    before: MediaTypes | undefined,
    after: MediaTypes | undefined,
  ) {
    for (const [mediaType, { schema }] of Object.entries(before ?? {})) {
      const content = after?.[mediaType];
      if (!content) report(`${name} ${mediaType}`, 'The media type is gone.', true);
      else if (schema && content.schema) compareSchemas(name, direction, schema, content.schema);
    }
  }

  function compareSchemas(path: string, direction: 'request' | 'response', before: object, after: object) {
    changes.push(
      ...schemaChanges({
        path,
        direction,
        released: { document: released, schema: before },
        current: { document: current, schema: after },
      }),
    );
  }
}
