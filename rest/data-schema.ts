import {
  type DocumentNode,
  type FieldNode,
  getNullableType,
  getOperationAST,
  GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { mapValues } from '../schema/map-values.ts';
import { fragmentsOf } from '../src/graphql/fragments.ts';
import {
  type Components,
  described,
  type JsonSchema,
  leafDescription,
  leafSchema,
  nullable,
  objectSchema,
  reference,
} from './json-schema.ts';

/** The structure of the data that a GraphQL document returns, with the JSON Schema of each value. */
export interface DescribedData {
  /**
   * An object with the same properties as the data that the GraphQL document returns, but with a placeholder in place
   * of each value.
   */
  data: object;
  /**
   * Returns the JSON Schema of a part of the response. The argument `part` is one placeholder of the object `data`, or
   * an object that contains several of these placeholders.
   */
  schemaOf(part: unknown): JsonSchema;
}

/**
 * Creates the JSON Schemas of the data that a GraphQL operation selects. The JSON types of the values come from the
 * GraphQL schema. Each fragment becomes a component of the OpenAPI document: the fragment `CompanyFields` becomes the
 * component `Company`.
 */
export function describeData(
  schema: GraphQLSchema,
  document: DocumentNode,
  components: Components,
): DescribedData {
  const schemas = new Map<unknown, JsonSchema>();
  const fragments = fragmentsOf(document);
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
          // When a root field is null, REST returns an error instead of data. The JSON Schema of a root field therefore
          // does not allow null.
          const shownType = type === rootType ? new GraphQLNonNull(getNullableType(field.type)) : field.type;
          return {
            [(selection.alias ?? selection.name).value]: typePart(shownType, selection, field.description),
          };
        }
        const spread =
          selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : undefined;
        if (spread) return fieldsOf(spread.selectionSet, type);
        throw new TypeError('A selection is a field or a named fragment of the document');
      }),
    ) as Record<string, object>;
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
