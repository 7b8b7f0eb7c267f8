import type { BreakingChange } from './breaking-change.ts';
import { type Document, type Reference, resolveReference, type Schema } from './openapi-document.ts';

interface SchemaOf {
  document: Document;
  schema: Schema | Reference;
}

interface Comparison {
  /**
   * The place in the API (a request or response of an endpoint, or a part of it) that the JSON Schema describes. For
   * example, `GET /locations 200.data[]` means the items of `data` in a response with status 200.
   */
  path: string;
  /**
   * Whether the JSON Schema describes a request or a response. The gateway must still accept every request that the
   * last release accepted. A response must still match the JSON Schema of the last release.
   */
  direction: 'request' | 'response';
  released: SchemaOf;
  current: SchemaOf;
}

/**
 * The JSON Schema keywords that limit a value. When a limit becomes less strict, it moves in the direction `loosened`:
 * `up` for a maximum, and `down` for a minimum.
 */
const bounds = [
  { keyword: 'maxLength', loosened: 'up' },
  { keyword: 'maximum', loosened: 'up' },
  { keyword: 'minLength', loosened: 'down' },
  { keyword: 'minimum', loosened: 'down' },
] as const;

/**
 * Compares two JSON Schemas, and returns the differences that break clients. The comparison supports the keyword
 * `allOf`. It does not support other keywords that combine schemas, such as `anyOf`.
 */
export function schemaChanges(comparison: Comparison): BreakingChange[] {
  const { path, direction, released, current } = comparison;
  const before = flatten(released);
  const after = flatten(current);
  return [
    ...typeChanges(path, direction, before, after),
    ...(direction === 'request'
      ? acceptanceChanges(path, before, after)
      : answerChanges(path, before, after)),
    ...nestedChanges(comparison, before, after),
  ];
}

/**
 * Compares the old and the new type of a value, and returns a breaking change if clients cannot handle the new type. A
 * new type of a request value breaks a client if the gateway no longer accepts the type that the client sends. A change
 * of the type in a response breaks a client if the new type allows a value that the client does not expect, such as
 * null.
 */
function typeChanges(
  path: string,
  direction: Comparison['direction'],
  before: Schema,
  after: Schema,
): BreakingChange[] {
  const [needed, allowed] = direction === 'request' ? [before, after] : [after, before];
  const allowedTypes = typesOf(allowed);
  const neededTypes = typesOf(needed);
  const fits =
    allowedTypes.length === 0 ||
    (neededTypes.length > 0 && neededTypes.every((type) => includesType(allowedTypes, type)));
  if (fits) return [];
  const words = (schema: Schema) => typesOf(schema).join(' or ') || 'any';
  return [{ path, message: `The type was ${words(before)} and is ${words(after)}.`, isRemoval: false }];
}

/** Returns the changes of a JSON Schema that make the gateway reject requests that it accepted before. */
function acceptanceChanges(path: string, before: Schema, after: Schema): BreakingChange[] {
  const changes: BreakingChange[] = [];
  const accepted = valuesOf(after);
  const refused = accepted && valuesOf(before)?.filter((value) => !accepted.includes(value));
  if (refused?.length) {
    changes.push({ path, message: `No longer accepted: ${refused.join(', ')}.`, isRemoval: true });
  }
  for (const { keyword, loosened } of bounds) {
    const [earlier, later] = [before[keyword], after[keyword]];
    if (earlier === undefined || later === undefined) continue;
    if (loosened === 'up' ? later < earlier : later > earlier) {
      changes.push({ path, message: `${keyword} was ${earlier} and is ${later}.`, isRemoval: false });
    }
  }
  for (const name of after.required ?? []) {
    if (before.required?.includes(name)) continue;
    changes.push({ path: `${path}.${name}`, message: 'The property is required now.', isRemoval: false });
  }
  return changes;
}

/** Compares the old and the new JSON Schema of a response, and returns the differences that break clients. */
function answerChanges(path: string, before: Schema, after: Schema): BreakingChange[] {
  const changes: BreakingChange[] = [];
  const values = valuesOf(before);
  if (values && !valuesOf(after)?.some((value) => values.includes(value))) {
    changes.push({ path, message: `The value was one of ${values.join(', ')}.`, isRemoval: false });
  }
  for (const name of before.required ?? []) {
    if (!after.properties?.[name] || after.required?.includes(name)) continue;
    changes.push({
      path: `${path}.${name}`,
      message: 'The property was required, and is optional now.',
      isRemoval: false,
    });
  }
  return changes;
}

function nestedChanges(
  { path, direction, released, current }: Comparison,
  before: Schema,
  after: Schema,
): BreakingChange[] {
  const compare = (place: string, earlier: Schema | Reference, later: Schema | Reference) =>
    schemaChanges({
      path: place,
      direction,
      released: { document: released.document, schema: earlier },
      current: { document: current.document, schema: later },
    });
  const ofProperties = Object.entries(before.properties ?? {}).flatMap(([name, property]) => {
    const counterpart = after.properties?.[name];
    const place = `${path}.${name}`;
    return counterpart
      ? compare(place, property, counterpart)
      : [{ path: place, message: 'The property is gone.', isRemoval: true }];
  });
  const ofItems = before.items && after.items ? compare(`${path}[]`, before.items, after.items) : [];
  return [...ofProperties, ...ofItems];
}

/**
 * Merges a JSON Schema with the JSON Schemas in its keyword `allOf`. If the JSON Schema itself is a reference (`$ref`),
 * the function first replaces it with the referenced schema.
 */
function flatten({ document, schema }: SchemaOf): Schema {
  const { allOf = [], ...own } = resolveReference(document, schema);
  return allOf
    .map((part) => flatten({ document, schema: part }))
    .reduce(
      (whole, part) => ({
        ...part,
        ...whole,
        properties: { ...part.properties, ...whole.properties },
        required: [...(part.required ?? []), ...(whole.required ?? [])],
      }),
      own,
    );
}

/** Returns the types that a JSON Schema allows, or an empty list when the JSON Schema allows any type. */
const typesOf = ({ type = [] }: Schema): string[] => [type].flat();

const includesType = (types: string[], type: string) =>
  types.includes(type) || (type === 'integer' && types.includes('number'));

const valuesOf = (schema: Schema): unknown[] | undefined =>
  schema.const === undefined ? schema.enum : [schema.const];
