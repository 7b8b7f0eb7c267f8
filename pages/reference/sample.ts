import type { JsonSchema } from '../../rest/json-schema.ts';
import { examples } from '../../rest/openapi-text.ts';

/** Maps each field name to its sample value from the example request bodies of the OpenAPI document. */
const namedValues: Record<string, unknown> = {
  ...Object.assign({}, ...Object.values(examples).flatMap((bodies) => Object.values(bodies).reverse())),
  service: 'parking-gateway',
  status: 'ok',
  residentId: 'unit-1204',
  validFrom: null,
  validUntil: null,
  nextCursor: null,
};

const sampleId = '0199a1c2-7d4e-7c3a-9b51-2f6e8d0c4a17';

/**
 * A function that replaces a reference (`$ref`) with the component of the OpenAPI document that the reference names.
 */
export type Resolve = (schema: JsonSchema) => JsonSchema;

/** Returns the JSON Schema of a request body or of a response. */
export const bodySchema = (holder: unknown): JsonSchema =>
  (holder as { content: { 'application/json': { schema: JsonSchema } } }).content['application/json'].schema;

/** Returns a sample value for a JSON Schema. */
export function sampleOf(schema: JsonSchema, resolve: Resolve, name = ''): unknown {
  const {
    type,
    enum: values,
    const: only,
    examples: own,
    properties,
    items,
    format,
    anyOf,
  } = resolve(schema);
  if (!type && Array.isArray(anyOf)) return sampleOf(anyOf[0] as JsonSchema, resolve, name);
  if (only !== undefined) return only;
  if (Array.isArray(own)) return own[0];
  if (Array.isArray(values)) return values[0];
  if (properties) {
    const entries = Object.entries(properties as Record<string, JsonSchema>);
    return Object.fromEntries(entries.map(([key, value]) => [key, sampleOf(value, resolve, key)]));
  }
  if (items) return [sampleOf(items as JsonSchema, resolve)];
  if (name in namedValues) return namedValues[name];
  const types = [type].flat();
  if (types[0] === 'null') return null;
  if (types.includes('integer')) return 12;
  if (types.includes('number')) return 0.9;
  if (types.includes('boolean')) return true;
  if (format === 'date-time') return '2026-01-31T08:00:00.000Z';
  if (name === 'id' || name.endsWith('Id')) return sampleId;
  if (types.includes('string')) return 'text';
  return {};
}
