import {
  type DocumentNode,
  type FieldNode,
  getNamedType,
  getNullableType,
  type GraphQLArgument,
  type GraphQLLeafType,
  GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getOperationAST,
  isEnumType,
  isInputObjectType,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { z } from 'zod';
import { freeObject } from '../schema/rules.ts';
import { argumentRule } from '../src/graphql/operation-plan.ts';

/** A JSON Schema of the 2020-12 dialect. */
export type JsonSchema = Record<string, unknown>;

/** Where a document's reader finds the schemas that have a name. */
export type Components = Record<string, JsonSchema>;

/** The schema of an object; every property is required that is not named as optional. */
export function objectSchema(
  properties: Record<string, JsonSchema>,
  { optional = [], description }: { optional?: readonly string[]; description?: string | undefined } = {},
): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', ...(description && { description }), properties, required };
}

/** The schema of a value of its own, by name. */
export const reference = (kind: 'schemas' | 'responses' | 'headers', name: string): JsonSchema => ({
  $ref: `#/components/${kind}/${name}`,
});

const mapValues = <From, To>(values: Readonly<Record<string, From>>, map: (value: From, key: string) => To) =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value, key)]));

/** The fields of an input object that REST has too: the contract says which, and the graph may have more (`graphOnly`). */
export const restFieldsOf = (type: GraphQLInputObjectType): GraphQLInputField[] =>
  Object.values(type.getFields()).filter(({ extensions }) => !extensions.graphOnly);

/**
 * What an argument may be: its rule as JSON Schema, with the graph's descriptions. What JSON Schema
 * cannot say, such as a real time zone, the descriptions say.
 */
export function argumentSchema(argument: GraphQLArgument): JsonSchema {
  const rule = argumentRule(argument);
  const type = getNamedType(argument.type);
  if (!(rule instanceof z.ZodType)) return isLeafType(type) ? leafSchema(type) : {};
  const schema = ruleSchema(rule);
  if (!isInputObjectType(type)) return simplified(schema);
  const fields = new Map(restFieldsOf(type).map((field) => [field.name, field]));
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  return {
    ...schema,
    description: type.description,
    properties: Object.fromEntries(
      properties
        .filter(([name]) => fields.has(name))
        .map(([name, property]) => [name, described(simplified(property), fields.get(name)!.description)]),
    ),
  };
}

/** A rule as JSON Schema, for a component of the document. */
export function ruleSchema(rule: z.ZodType): JsonSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(rule, { io: 'input', unrepresentable, override });
  return schema;
}

type ToJsonSchema = NonNullable<Parameters<typeof z.toJSONSchema>[1]>;
type Override = NonNullable<ToJsonSchema['override']>;

/** No JSON is a Date, and a free object is an object; for any other rule Zod throws. */
const unrepresentable: ToJsonSchema['unrepresentable'] = ({ zodSchema }) => {
  if (zodSchema._zod.def.type === 'date') return { not: {} };
  return zodSchema === freeObject ? { type: 'object' } : 'throw';
};

/**
 * Says what Zod leaves out. Refinements are code: what they refuse shows when they are asked. Patterns are kept to
 * what the regular expressions of other languages share.
 */
const override: Override = ({ zodSchema, jsonSchema }) => {
  const accepts = (value: unknown) => z.safeParse(zodSchema, value).success;
  const { type } = zodSchema._zod.def;
  if (type === 'object' && !jsonSchema.required && !accepts({})) jsonSchema.minProperties = 1;
  if (type !== 'string') return;
  if (jsonSchema.format) {
    delete jsonSchema.pattern; // says the same, in 300 characters
    return;
  }
  const format = formatOf(accepts);
  if (format) {
    jsonSchema.anyOf = [{ maxLength: 0 }, { format }];
    return;
  }
  if (!accepts('')) jsonSchema.minLength = 1;
  const ownPattern = jsonSchema.pattern && portablePattern(jsonSchema.pattern, accepts);
  const patterns = ownPattern ? [ownPattern] : [];
  if (!ownPattern && accepts('a') && !accepts('a\u0001')) patterns.push(noControlCharacters);
  const isBlankRefused = !accepts('') && !accepts(' ');
  if (isBlankRefused && patterns.every((pattern) => new RegExp(pattern).test(' '))) patterns.push('\\S');
  const [pattern, ...others] = patterns;
  if (pattern) jsonSchema.pattern = pattern;
  if (others.length > 0) jsonSchema.allOf = others.map((other) => ({ pattern: other }));
};

type Accepts = (value: string) => boolean;

/** Text without control characters other than tab and newline (decisions, "strings"). */
const noControlCharacters = '^[^\\x00-\\x08\\x0B-\\x1F\\x7F-\\x9F]*$';

/** The format that a rule asks for besides an empty string. */
function formatOf(accepts: Accepts): 'email' | 'uri' | undefined {
  if (!accepts('') || accepts('text')) return undefined;
  if (accepts('name@mail.example')) return 'email';
  return accepts('https://site.example') ? 'uri' : undefined;
}

/** The last character of Latin-1's control characters. */
const lastControlCharacter = 0x9f;

/**
 * A pattern that engines without Unicode properties take too. In place of `\p{L}` and its like, which they lack, it
 * refuses the characters up to U+009F that the rule refuses and lets all others pass.
 */
function portablePattern(pattern: string, accepts: Accepts): string {
  if (!pattern.includes('\\p{')) return pattern;
  const codes = Array.from({ length: lastControlCharacter + 1 }, (_, code) => code);
  const refused = codes.filter((code) => !accepts(`a${String.fromCharCode(code)}a`));
  const escaped = (code: number) => `\\x${code.toString(16).toUpperCase().padStart(2, '0')}`;
  const isStart = (code: number) => !refused.includes(code - 1);
  const ranges = refused.filter(isStart).map((start) => {
    let end = start;
    while (refused.includes(end + 1)) end += 1;
    return end === start ? escaped(start) : `${escaped(start)}-${escaped(end)}`;
  });
  return `^[^${ranges.join('')}]*$`;
}

/** A union without what no JSON is, and with null as a second type. */
function simplified({ anyOf, ...schema }: JsonSchema): JsonSchema {
  if (!Array.isArray(anyOf)) return schema;
  const members = (anyOf as JsonSchema[]).map(simplified).filter(({ not }) => !not);
  const [first, second, ...others] = members;
  if (first && !second) return { ...schema, ...first };
  if (first && second?.type === 'null' && others.length === 0) return { ...schema, ...nullable(first) };
  return { ...schema, anyOf: members };
}

const described = (schema: JsonSchema, description: string | null | undefined): JsonSchema =>
  description ? { ...schema, description } : schema;

const jsonTypes: Record<string, JsonSchema> = {
  ID: { type: 'string' },
  String: { type: 'string' },
  Int: { type: 'integer' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  DateTime: { type: 'string', format: 'date-time' },
  JSON: {},
};

function leafSchema(type: GraphQLLeafType): JsonSchema {
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
  const schema = jsonTypes[type.name];
  if (!schema) throw new TypeError(`No JSON Schema for the scalar ${type.name}`);
  return schema;
}

function leafDescription(type: GraphQLLeafType, description: string | null | undefined) {
  const values = isEnumType(type) ? type.getValues() : [];
  return [description, ...values.map((value) => `- \`${value.name}\`: ${value.description}`)]
    .filter(Boolean)
    .join('\n');
}

function nullable(schema: JsonSchema): JsonSchema {
  if (typeof schema.type !== 'string') return schema.$ref ? { anyOf: [schema, { type: 'null' }] } : schema;
  const values = schema.enum as unknown[] | undefined;
  return { ...schema, type: [schema.type, 'null'], ...(values && { enum: [...values, null] }) };
}

/** The data of a document with a schema in the place of each value. */
export interface DescribedData {
  /** To be taken apart like the data itself: each part stands for its schema. */
  data: object;
  /** The schema of a part, or of an object that is put together of parts and words. */
  schemaOf(part: unknown): JsonSchema;
}

/**
 * Walks the selection of a document's operation with the types of the graph. What a fragment such as
 * `CompanyFields` selects becomes a component, `Company`.
 */
export function describeData(
  schema: GraphQLSchema,
  document: DocumentNode,
  components: Components,
): DescribedData {
  const schemas = new Map<unknown, JsonSchema>();
  const operation = getOperationAST(document)!;
  const rootType = schema.getRootType(operation.operation)!;

  function part(partSchema: JsonSchema, fields: object = {}): object {
    schemas.set(fields, partSchema);
    return fields;
  }

  function schemaOf(value: unknown): JsonSchema {
    const known = schemas.get(value);
    if (known) return known;
    if (typeof value === 'string') return { type: 'string', examples: [value] };
    return objectSchema(mapValues(value as Record<string, unknown>, schemaOf));
  }

  function fieldsOf({ selections }: SelectionSetNode, type: GraphQLObjectType): Record<string, object> {
    return Object.assign(
      {},
      ...selections.map((selection) => {
        if (selection.kind === Kind.FIELD) {
          const field = type.getFields()[selection.name.value]!;
          // A root field is null only together with an error, whose envelope has no data.
          const shownType = type === rootType ? new GraphQLNonNull(getNullableType(field.type)) : field.type;
          return {
            [(selection.alias ?? selection.name).value]: typePart(shownType, selection, field.description),
          };
        }
        if (selection.kind === Kind.FRAGMENT_SPREAD)
          return fieldsOf(fragment(selection.name.value).selectionSet, type);
        throw new TypeError('A selection is a field or a named fragment');
      }),
    ) as Record<string, object>;
  }

  function fragment(name: string) {
    const found = document.definitions.find(
      (definition) => definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === name,
    );
    if (found?.kind !== Kind.FRAGMENT_DEFINITION) throw new TypeError(`No fragment ${name}`);
    return found;
  }

  function typePart(
    type: GraphQLOutputType,
    node: FieldNode,
    description: string | null | undefined,
  ): object {
    if (isNonNullType(type)) return valuePart(type.ofType, node, description);
    const value = valuePart(type, node, description);
    return part(nullable(schemaOf(value)), value);
  }

  function valuePart(
    type: GraphQLOutputType,
    node: FieldNode,
    description: string | null | undefined,
  ): object {
    if (isListType(type)) {
      return part({ type: 'array', items: schemaOf(typePart(type.ofType, node, undefined)) });
    }
    if (isObjectType(type) && node.selectionSet) return objectPart(node.selectionSet, type);
    if (isLeafType(type)) return part(described(leafSchema(type), leafDescription(type, description)));
    throw new TypeError(`No JSON Schema for ${type}`);
  }

  function objectPart(selectionSet: SelectionSetNode, type: GraphQLObjectType) {
    const fields = fieldsOf(selectionSet, type);
    const whole = objectSchema(mapValues(fields, schemaOf), { description: type.description ?? undefined });
    const [only, ...others] = selectionSet.selections;
    if (only?.kind !== Kind.FRAGMENT_SPREAD || others.length > 0) return part(whole, fields);
    const name = only.name.value.replace(/Fields$/, '');
    components[name] = whole;
    return part(reference('schemas', name), fields);
  }

  return { data: fieldsOf(operation.selectionSet, rootType), schemaOf };
}
