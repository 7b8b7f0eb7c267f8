import { GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { JSONResolver } from 'graphql-scalars';
import { holdInexactNumber, isExact } from '../src/json/exact-numbers.ts';

/**
 * The GraphQL scalar type for any JSON value. In a GraphQL document, a JSON object may have properties with any name,
 * even `__proto__`. If a JSON value contains a number that changes when JavaScript parses it and writes it again, the
 * gateway rejects the number. This rule applies to a GraphQL document and to the JSON body of a request.
 */
export const jsonScalar = new GraphQLScalarType({ ...JSONResolver.toConfig(), parseLiteral: valueOfLiteral });

function valueOfLiteral(literal: ValueNode, variables?: Readonly<Record<string, unknown>> | null): unknown {
  switch (literal.kind) {
    case Kind.INT:
    case Kind.FLOAT:
      return Number(literal.value);
    case Kind.STRING:
    case Kind.BOOLEAN:
    case Kind.ENUM:
      return literal.value;
    case Kind.NULL:
      return null;
    case Kind.VARIABLE:
      return variables?.[literal.name.value];
    case Kind.LIST: {
      const { values } = literal;
      return holderOf(
        Object.entries(values),
        values.map((item) => valueOfLiteral(item, variables)),
      );
    }
    case Kind.OBJECT: {
      const { fields } = literal;
      const members = fields.map(
        ({ name, value }) => [name.value, valueOfLiteral(value, variables)] as const,
      );
      return holderOf(
        fields.map(({ name, value }) => [name.value, value]),
        Object.fromEntries(members),
      );
    }
  }
}

/**
 * Marks an object or array in a GraphQL document if it directly contains a number that JavaScript cannot represent
 * exactly. `holderOf` does not check the numbers in the variables of the request: `requireExactVariables` checks them.
 */
function holderOf<Holder extends object>(
  literals: readonly (readonly [name: string, literal: ValueNode])[],
  holder: Holder,
): Holder {
  for (const [name, literal] of literals) {
    if (isInexactLiteral(literal)) holdInexactNumber(holder, name);
  }
  return holder;
}

const isInexactLiteral = (literal: ValueNode) =>
  (literal.kind === Kind.INT || literal.kind === Kind.FLOAT) && !isExact(literal.value);
