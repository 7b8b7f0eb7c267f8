import type { GraphQLInputField, GraphQLInputObjectType } from 'graphql';

/**
 * Returns the fields of a GraphQL input object that REST accepts. Fields that exist only in GraphQL (`graphOnly`) are
 * omitted.
 */
export const restFieldsOf = (type: GraphQLInputObjectType): GraphQLInputField[] =>
  Object.values(type.getFields()).filter(({ extensions }) => !extensions.graphOnly);
