import {
  getNamedType,
  type GraphQLArgument,
  type GraphQLLeafType,
  isEnumType,
  isInputObjectType,
  isLeafType,
} from 'graphql';
import { z } from 'zod';
import { freeObject } from '../schema/rules.ts';
import { argumentRule } from '../src/graphql/operation-plan.ts';
import { restFieldsOf } from './rest-fields.ts';

/** A JSON Schema of version 2020-12. */
export type JsonSchema = Record<string, unknown>;

/** The JSON Schemas that are components of the OpenAPI document, by name. */
export type Components = Record<string, JsonSchema>;

/** Creates the JSON Schema of an object. All properties are required, except the properties in `optional`. */
export function objectSchema(
  properties: Record<string, JsonSchema>,
  { optional = [], description }: { optional?: readonly string[]; description?: string | undefined } = {},
): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', ...(description && { description }), properties, required };
}

/** Creates a reference to a component of the OpenAPI document. */
export const reference = (kind: 'schemas' | 'responses' | 'headers', name: string): JsonSchema => ({
  $ref: `#/components/${kind}/${name}`,
});

/**
 * Converts the validation rule of a GraphQL argument to JSON Schema. The JSON Schema also contains the descriptions
 * from the GraphQL schema. The descriptions explain rules that JSON Schema cannot express, such as the rule for a valid
 * time zone.
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

/** Converts a validation rule to a JSON Schema that becomes a component of the OpenAPI document. */
export function ruleSchema(rule: z.ZodType): JsonSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(rule, { io: 'input', unrepresentable, override });
  return schema;
}

type ToJsonSchema = NonNullable<Parameters<typeof z.toJSONSchema>[1]>;
type Override = NonNullable<ToJsonSchema['override']>;

/**
 * Returns a JSON Schema for a Zod type that Zod itself cannot convert to JSON Schema. A Zod Date becomes a JSON Schema
 * that accepts no value, because JSON has no dates. A JSON object with arbitrary content becomes a JSON Schema that
 * accepts any object. For a type that has no JSON Schema, such as BigInt, Zod throws an error.
 */
const unrepresentable: ToJsonSchema['unrepresentable'] = ({ zodSchema }) => {
  if (zodSchema._zod.def.type === 'date') return { not: {} };
  return zodSchema === freeObject ? { type: 'object' } : 'throw';
};

/**
 * Removes the regular expression that Zod adds to a JSON Schema with the keyword `format`. Zod's regular expression has
 * up to 300 characters, and expresses the same rule as the JSON Schema keyword `format`.
 */
const override: Override = ({ jsonSchema }) => {
  if (jsonSchema.format) delete jsonSchema.pattern;
};

/**
 * Simplifies the JSON Schema of a union. The function removes types that JSON does not have, such as Date, from the
 * union type. A union of a type and null becomes a single JSON Schema that also allows null.
 */
function simplified({ anyOf, ...schema }: JsonSchema): JsonSchema {
  if (!Array.isArray(anyOf)) return schema;
  const members = (anyOf as JsonSchema[]).map(simplified).filter(({ not }) => !not);
  const [first, second, ...others] = members;
  if (first && !second) return { ...schema, ...first };
  if (first && second?.type === 'null' && others.length === 0) return { ...schema, ...nullable(first) };
  return { ...schema, anyOf: members };
}

/** Adds a description to a JSON Schema, unless the description is empty or missing. */
export const described = (schema: JsonSchema, description: string | null | undefined): JsonSchema =>
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

/** Returns the JSON Schema of a GraphQL scalar or enum. */
export function leafSchema(type: GraphQLLeafType): JsonSchema {
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
  const schema = jsonTypes[type.name];
  if (!schema) throw new TypeError(`No JSON Schema for the scalar ${type.name}`);
  return schema;
}

/**
 * Returns the description of a GraphQL scalar type or enum type. The description of an enum type also contains the
 * meaning of each enum value.
 */
export function leafDescription(type: GraphQLLeafType, description: string | null | undefined) {
  const values = isEnumType(type) ? type.getValues() : [];
  return [description, ...values.map((value) => `- \`${value.name}\`: ${value.description}`)]
    .filter(Boolean)
    .join('\n');
}

/** Returns a copy of a JSON Schema that also allows null. */
export function nullable(schema: JsonSchema): JsonSchema {
  if (typeof schema.type !== 'string') return schema.$ref ? { anyOf: [schema, { type: 'null' }] } : schema;
  const values = schema.enum as unknown[] | undefined;
  return { ...schema, type: [schema.type, 'null'], ...(values && { enum: [...values, null] }) };
}
