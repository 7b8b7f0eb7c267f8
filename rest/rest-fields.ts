import type { GraphQLInputField, GraphQLInputObjectType } from 'graphql';

/** The fields of an input object that REST accepts, as the contract says. The graph may have more (`graphOnly`). */
export const restFieldsOf = (type: GraphQLInputObjectType): GraphQLInputField[] =>
  Object.values(type.getFields()).filter(({ extensions }) => !extensions.graphOnly);
