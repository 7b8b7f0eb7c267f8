import type { GraphQLInputField, GraphQLInputObjectType } from 'graphql';

/** The fields of an input object that REST has too: the contract says which, and the graph may have more (`graphOnly`). */
export const restFieldsOf = (type: GraphQLInputObjectType): GraphQLInputField[] =>
  Object.values(type.getFields()).filter(({ extensions }) => !extensions.graphOnly);
