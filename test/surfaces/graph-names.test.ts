import { readFileSync } from 'node:fs';
import {
  type FieldDefinitionNode,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  getNamedType,
  type InputValueDefinitionNode,
  isEnumType,
  isInputObjectType,
  isObjectType,
  Kind,
  parse,
  print,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../schema/index.ts';

// The GraphQL schema must have all names in test/fixtures/graph.graphql, because clients rely on these names. The
// GraphQL schema may also have names that are not in test/fixtures/graph.graphql.
const promised = parse(readFileSync(new URL('../fixtures/graph.graphql', import.meta.url), 'utf8'));

const types = promised.definitions.flatMap((node) =>
  node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION
    ? (node.fields ?? []).map((field): [string, string, FieldDefinitionNode | InputValueDefinitionNode] => [
        node.name.value,
        field.name.value,
        field,
      ])
    : [],
);

describe('names in the GraphQL schema', () => {
  test.each(types)(
    'the GraphQL schema still has the field %s.%s, on which clients rely',
    (typeName, fieldName, promisedField) => {
      const type = schema.getType(typeName);
      const field = isObjectType(type) || isInputObjectType(type) ? type.getFields()[fieldName] : undefined;
      expect(String(field?.type)).toBe(print(promisedField.type));
      if (promisedField.kind === Kind.FIELD_DEFINITION && field && 'args' in field) {
        for (const argument of promisedField.arguments ?? []) {
          const found = field.args.find(({ name }) => name === argument.name.value);
          expect(String(found?.type), argument.name.value).toBe(print(argument.type));
        }
      }
    },
  );

  test.each(
    promised.definitions.flatMap((node) =>
      node.kind === Kind.ENUM_TYPE_DEFINITION
        ? [[node.name.value, (node.values ?? []).map(({ name }) => name.value)] as const]
        : [],
    ),
  )('the enum %s of the GraphQL schema still has all values on which clients rely', (name, values) => {
    const type = schema.getType(name);
    expect(isEnumType(type) ? type.getValues().map((value) => value.name) : []).toEqual(
      expect.arrayContaining(values),
    );
  });

  test('every type, field, argument and enum value of the GraphQL schema has a description', () => {
    const named = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
    const missing = named.flatMap((type) => {
      const own =
        type.description || ['String', 'ID', 'Int', 'Boolean', 'Float'].includes(type.name)
          ? []
          : [type.name];
      if (isEnumType(type)) {
        return [
          ...own,
          ...type
            .getValues()
            .filter((value) => !value.description)
            .map((value) => `${type}.${value.name}`),
        ];
      }
      if (!isObjectType(type) && !isInputObjectType(type)) return own;
      return [
        ...own,
        ...Object.values<GraphQLField<unknown, unknown> | GraphQLInputField>(type.getFields()).flatMap(
          (field) => [
            ...(field.description ? [] : [`${type}.${field.name}`]),
            ...('args' in field ? field.args : [])
              .filter((argument) => !argument.description)
              .map((argument) => `${type}.${field.name}(${argument.name}: ${getNamedType(argument.type)})`),
          ],
        ),
      ];
    });
    expect(missing).toEqual([]);
  });

  // graphql-jit compiles the type of each variable with all nested input types. If an input type contained itself,
  // graphql-jit would fill the memory of the process while it compiles the type.
  test('no input type of the GraphQL schema contains itself', () => {
    const contains = (type: GraphQLInputObjectType, outer: readonly GraphQLInputObjectType[]): boolean =>
      outer.includes(type) ||
      Object.values(type.getFields())
        .map((field) => getNamedType(field.type))
        .some((inner) => isInputObjectType(inner) && contains(inner, [...outer, type]));
    const inputs = Object.values(schema.getTypeMap()).filter(isInputObjectType);
    expect(inputs.filter((type) => contains(type, []))).toEqual([]);
    expect(inputs.length).toBeGreaterThan(5);
  });
});
