import type { GraphQLInputField, GraphQLInputObjectType } from 'graphql';

/**
 * Returns the fields of an input object that REST accepts according to the contract. The graph may have more fields
 * (`graphOnly`).
 */
export const restFieldsOf = (type: GraphQLInputObjectType): GraphQLInputField[] =>
  Object.values(type.getFields()).filter(({ extensions }) => !extensions.graphOnly);
