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

/** A JSON Schema of the 2020-12 dialect. */
export type JsonSchema = Record<string, unknown>;

/** The named schemas of the OpenAPI document, by their names. */
export type Components = Record<string, JsonSchema>;

/** Creates the JSON Schema of an object. All properties are required, except those in `optional`. */
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
 * Converts the validation rule of an argument to JSON Schema, with the descriptions of the graph. The descriptions
 * explain what JSON Schema cannot express, such as a valid time zone.
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

/** Converts a validation rule to JSON Schema, for a component of the OpenAPI document. */
export function ruleSchema(rule: z.ZodType): JsonSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(rule, { io: 'input', unrepresentable, override });
  return schema;
}

type ToJsonSchema = NonNullable<Parameters<typeof z.toJSONSchema>[1]>;
type Override = NonNullable<ToJsonSchema['override']>;

/**
 * Returns a JSON Schema for Zod types that have none: a Date becomes a schema without a type, and an object with free
 * content becomes an object. Zod throws an error for all other such types.
 */
const unrepresentable: ToJsonSchema['unrepresentable'] = ({ zodSchema }) => {
  if (zodSchema._zod.def.type === 'date') return { not: {} };
  return zodSchema === freeObject ? { type: 'object' } : 'throw';
};

/** Removes the pattern that Zod adds to a format. The pattern has 300 characters and says the same as the format. */
const override: Override = ({ jsonSchema }) => {
  if (jsonSchema.format) delete jsonSchema.pattern;
};

/**
 * Simplifies the JSON Schema of a union. Types that do not exist in JSON are removed, and null becomes a second type.
 */
function simplified({ anyOf, ...schema }: JsonSchema): JsonSchema {
  if (!Array.isArray(anyOf)) return schema;
  const members = (anyOf as JsonSchema[]).map(simplified).filter(({ not }) => !not);
  const [first, second, ...others] = members;
  if (first && !second) return { ...schema, ...first };
  if (first && second?.type === 'null' && others.length === 0) return { ...schema, ...nullable(first) };
  return { ...schema, anyOf: members };
}

/** Adds a description to a JSON Schema if there is a description. */
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

/** Returns the description of a GraphQL scalar or enum, with the meaning of each enum value. */
export function leafDescription(type: GraphQLLeafType, description: string | null | undefined) {
  const values = isEnumType(type) ? type.getValues() : [];
  return [description, ...values.map((value) => `- \`${value.name}\`: ${value.description}`)]
    .filter(Boolean)
    .join('\n');
}

/** Returns a JSON Schema that also allows null. */
export function nullable(schema: JsonSchema): JsonSchema {
  if (typeof schema.type !== 'string') return schema.$ref ? { anyOf: [schema, { type: 'null' }] } : schema;
  const values = schema.enum as unknown[] | undefined;
  return { ...schema, type: [schema.type, 'null'], ...(values && { enum: [...values, null] }) };
}
