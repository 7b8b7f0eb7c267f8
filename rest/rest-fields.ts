import type { GraphQLInputField, GraphQLInputObjectType } from 'graphql';

/**
 * Returns the fields of a GraphQL input object that REST accepts. The result omits the fields that exist only in
 * GraphQL (`graphOnly`).
 */
export const restFieldsOf = (type: GraphQLInputObjectType): GraphQLInputField[] =>
  Object.values(type.getFields()).filter(({ extensions }) => !extensions.graphOnly);
