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

/** A schema with its description, if there is one. */
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

/** The schema of a scalar or an enum of the graph. */
export function leafSchema(type: GraphQLLeafType): JsonSchema {
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
  const schema = jsonTypes[type.name];
  if (!schema) throw new TypeError(`No JSON Schema for the scalar ${type.name}`);
  return schema;
}

/** The description of a scalar or an enum, with what each value of the enum means. */
export function leafDescription(type: GraphQLLeafType, description: string | null | undefined) {
  const values = isEnumType(type) ? type.getValues() : [];
  return [description, ...values.map((value) => `- \`${value.name}\`: ${value.description}`)]
    .filter(Boolean)
    .join('\n');
}

/** The schema of a value that may be null too. */
export function nullable(schema: JsonSchema): JsonSchema {
  if (typeof schema.type !== 'string') return schema.$ref ? { anyOf: [schema, { type: 'null' }] } : schema;
  const values = schema.enum as unknown[] | undefined;
  return { ...schema, type: [schema.type, 'null'], ...(values && { enum: [...values, null] }) };
}
