// TypeScript types for an OpenAPI 3.1 document. Each TypeScript type contains only the properties that the project
// reads when it searches for breaking API changes.

export interface Reference {
  $ref: string;
}

export interface Schema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema | Reference>;
  required?: string[];
  items?: Schema | Reference;
  allOf?: (Schema | Reference)[];
  maxLength?: number;
  minLength?: number;
  maximum?: number;
  minimum?: number;
}

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema?: Schema | Reference;
}

export type MediaTypes = Record<string, { schema?: Schema | Reference }>;

export interface Response {
  headers?: Record<string, unknown>;
  content?: MediaTypes;
}

export interface Operation {
  parameters?: (Parameter | Reference)[];
  requestBody?: { required?: boolean; content: MediaTypes } | Reference;
  responses: Record<string, Response | Reference>;
}

export interface Document {
  paths: Record<
    string,
    { [method in 'get' | 'put' | 'post' | 'delete' | 'patch']?: Operation } & {
      parameters?: (Parameter | Reference)[];
    }
  >;
}

/**
 * Returns the object to which a `$ref` in an OpenAPI document points. If the value has no `$ref`, the function returns
 * the value itself.
 *
 * @throws when the document does not contain the object to which the `$ref` points
 */
export function resolveReference<Value extends object>(document: Document, value: Value | Reference): Value {
  if (!('$ref' in value)) return value;
  const target = value.$ref
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((node, part) => (node as Record<string, unknown> | undefined)?.[part], document);
  if (target === undefined) throw new Error(`the reference ${value.$ref} leads nowhere`);
  return resolveReference(document, target as Value | Reference);
}
