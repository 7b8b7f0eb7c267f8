import SchemaBuilder from '@pothos/core';
import PrismaPlugin from '@pothos/plugin-prisma';
import RelayPlugin from '@pothos/plugin-relay';
import ValidationPlugin from '@pothos/plugin-validation';
import { GraphQLError, GraphQLScalarType, type ValueNode, valueFromASTUntyped } from 'graphql';
import { DateTimeISOResolver } from 'graphql-scalars';
import { getDatamodel } from '../prisma/generated/pothos-types.ts';
import type PrismaTypes from '../prisma/generated/pothos-types.ts';
import type { Context } from '../src/context.ts';
import { validationError } from '../src/errors/faults.ts';
import { keepSentText } from '../src/errors/sent-instants.ts';
import { jsonScalar } from './json-scalar.ts';
import { instant } from './instant.ts';
import { cursor, pageSize, pageSizes } from './pagination.ts';
import CountOncePlugin from './count-once-plugin.ts';
import FieldOptionsPlugin from './field-options-plugin.ts';

/**
 * The Pothos builder of the GraphQL schema, with its plugins and scalar types. The builder validates all GraphQL
 * arguments. Object types such as Location are defined in other files.
 */
export const builder = new SchemaBuilder<{
  Context: Context;
  PrismaTypes: PrismaTypes;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: { list: false; items: false };
  DefaultNodeNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date };
    JSON: { Input: unknown; Output: unknown };
  };
  Connection: { totalCount: () => Promise<number> };
}>({
  plugins: [FieldOptionsPlugin, CountOncePlugin, ValidationPlugin, RelayPlugin, PrismaPlugin],
  defaultFieldNullability: false,
  prisma: {
    client: (context) => context.services.prisma,
    dmmf: getDatamodel(),
    onUnusedQuery: null,
  },
  validation: {
    validationError: (failure, args) => validationError(failure.issues, args),
  },
  relay: {
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    cursorType: 'String',
    nodesOnConnection: { description: 'The items of the list that are on this page.' },
    edgesFieldOptions: {
      description: 'The items of the list that are on this page, each with its cursor.',
      nullable: { list: false, items: false },
    },
    nodeFieldOptions: { description: 'The item.', nullable: false },
    cursorFieldOptions: {
      description:
        'A text that marks the position of the item in the list. Clients send the cursor of an item in the argument `after` or `before`.',
    },
    pageInfoFieldOptions: {
      description:
        'Whether the list has more items, and the cursors of the first and last item on this page.',
    },
    hasNextPageFieldOptions: { description: 'Whether the list has items after this page.' },
    hasPreviousPageFieldOptions: { description: 'Whether the list has items before this page.' },
    startCursorFieldOptions: {
      description: 'The cursor of the first item on the page; null for an empty page.',
    },
    endCursorFieldOptions: {
      description: 'The cursor of the last item on the page; null for an empty page.',
    },
    pageInfoTypeOptions: {
      description:
        'Whether the list has items before or after this page, and the cursors of the first and last item on this page.',
    },
    firstArgOptions: {
      description: `Maximum number of items on the page, counted from the start of the list or from the cursor \`after\`: 1 to 100. Default, without \`last\`: ${pageSizes.usual}.`,
      validate: pageSize,
    },
    lastArgOptions: {
      description:
        'Maximum number of items on the page, counted back from the end of the list or from the cursor `before`: 1 to 100. Not together with `first`.',
      validate: pageSize,
    },
    afterArgOptions: {
      description: 'A cursor: the page contains only items after this cursor.',
      validate: cursor,
    },
    beforeArgOptions: {
      description: 'A cursor: the page contains only items before this cursor.',
      validate: cursor,
    },
  },
});

/** Parses a DateTime value that a client sent, and checks that the value is a valid instant. */
function parseInstant(value: unknown, nodes?: ValueNode): Date {
  const parsed = instant.safeParse(value);
  if (!parsed.success || value instanceof Date) {
    throw new GraphQLError(parsed.error?.issues[0]?.message ?? 'Must be a string', { nodes });
  }
  keepSentText(parsed.data, String(value));
  return parsed.data;
}

builder.addScalarType(
  'DateTime',
  new GraphQLScalarType<Date, string>({
    ...DateTimeISOResolver.toConfig(),
    parseValue: (value) => parseInstant(value),
    parseLiteral: (literal) => parseInstant(valueFromASTUntyped(literal), literal),
  }),
  {
    description:
      'An instant in the years 1970 to 9999, in ISO 8601 with a UTC offset. In responses, instants are in UTC, such as `2026-01-31T08:00:00.000Z`.',
  },
);
builder.addScalarType('JSON', jsonScalar, { description: 'Any JSON value.' });

builder.globalConnectionField('totalCount', (t) =>
  t.int({
    description: 'The number of items in the whole list, not only on this page.',
    // The cost of `totalCount` is high, because PostgreSQL must read the whole list to count its items.
    complexity: 50,
    resolve: (connection) => connection.totalCount(),
  }),
);

builder.queryType({ description: 'The operations that read data.' });
builder.subscriptionType({
  description:
    'The operations that send new data to the client, as server-sent events, each time the data changes. A subscription ends when its API key is revoked or expires.',
});
builder.mutationType({
  description: 'The operations that change data. The gateway writes an audit record for each change.',
});
