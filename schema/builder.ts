import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import PrismaPlugin from '@pothos/plugin-prisma';
import RelayPlugin from '@pothos/plugin-relay';
import ValidationPlugin from '@pothos/plugin-validation';
import { DateTimeISOResolver, JSONResolver } from 'graphql-scalars';
import { getDatamodel } from '../prisma/generated/pothos-types.ts';
import type PrismaTypes from '../prisma/generated/pothos-types.ts';
import type { Context } from '../src/context.ts';
import { validationError } from '../src/validation.ts';
import { cursor, defaultPageSize, pageSize } from './pagination.ts';
import PermissionPlugin from './permission-plugin.ts';

/** The builder of the graph: plugins, scalars and the one validation hook. It defines no domain type. */
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
  plugins: [PermissionPlugin, ComplexityPlugin, ValidationPlugin, RelayPlugin, PrismaPlugin],
  defaultFieldNullability: false,
  prisma: {
    client: (context) => context.prisma,
    dmmf: getDatamodel(),
    onUnusedQuery: null,
  },
  complexity: {
    // A field costs a point, for each item of the page that it is in.
    fieldComplexity: ({ first, last }, _, field) => ({
      field: 1,
      multiplier: field.args.some((argument) => argument.name === 'first')
        ? Number(first ?? last ?? defaultPageSize)
        : 1,
    }),
  },
  validation: {
    validationError: (failure, args) => validationError(failure.issues, args),
  },
  relay: {
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    cursorType: 'String',
    nodesOnConnection: { description: 'The items of the page.' },
    edgesFieldOptions: {
      description: 'The items of the page, each with its cursor.',
      nullable: { list: false, items: false },
    },
    nodeFieldOptions: { description: 'The item.', nullable: false },
    cursorFieldOptions: { description: 'Where the item stands; for `after` and `before`.' },
    pageInfoFieldOptions: { description: 'Whether and how the list goes on.' },
    hasNextPageFieldOptions: { description: 'Whether there are items after the page.' },
    hasPreviousPageFieldOptions: { description: 'Whether there are items before the page.' },
    startCursorFieldOptions: { description: 'The cursor of the first item; null for an empty page.' },
    endCursorFieldOptions: { description: 'The cursor of the last item; null for an empty page.' },
    pageInfoTypeOptions: { description: 'Whether and how a list goes on.' },
    firstArgOptions: {
      description: `How many items from the start of the list, or after \`after\`: 1 to 100; ${defaultPageSize} when neither \`first\` nor \`last\` is given.`,
      validate: pageSize,
    },
    lastArgOptions: {
      description: 'How many items from the end of the list, or before `before`: 1 to 100.',
      validate: pageSize,
    },
    afterArgOptions: { description: 'Only items after this cursor.', validate: cursor },
    beforeArgOptions: { description: 'Only items before this cursor.', validate: cursor },
  },
});

builder.addScalarType('DateTime', DateTimeISOResolver, {
  description: 'An instant: ISO 8601 in UTC, such as `2026-01-31T08:00:00.000Z`.',
});
builder.addScalarType('JSON', JSONResolver, { description: 'Any JSON value.' });

builder.globalConnectionField('totalCount', (t) =>
  t.int({
    description: 'How many items the whole list has now.',
    complexity: 10,
    resolve: (connection) => connection.totalCount(),
  }),
);

builder.queryType({ description: 'What a key may read.' });
builder.subscriptionType({
  description: 'What a key may watch, as server-sent events. A subscription ends with the key.',
});
builder.mutationType({ description: 'What a key may change. Each change leaves an audit record.' });
