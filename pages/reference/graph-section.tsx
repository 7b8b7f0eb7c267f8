import {
  getNamedType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLSchema,
  isInputObjectType,
  isNonNullType,
  OperationTypeNode,
} from 'graphql';
import { exampleOperation } from './graph-operation.ts';
import { Prose } from './markdown.tsx';
import { type Entry, type FieldRow, FieldTable, GraphDocument, type Section } from './parts.tsx';

const kinds: { kind: OperationTypeNode; title: string; about: string }[] = [
  {
    kind: OperationTypeNode.QUERY,
    title: 'Queries',
    about: 'Queries read data. Send a query as `POST /graphql` or `GET /graphql`.',
  },
  {
    kind: OperationTypeNode.MUTATION,
    title: 'Mutations',
    about: 'Mutations change data. Send a mutation as `POST /graphql`.',
  },
  {
    kind: OperationTypeNode.SUBSCRIPTION,
    title: 'Subscriptions',
    about:
      'Subscriptions return live updates as server-sent events. Send a subscription as `POST /graphql` with `Accept: text/event-stream`.',
  },
];

/**
 * Returns the sections of the API reference that describe the GraphQL operations. Each operation is shown with its
 * arguments, its result, and an example that users can open in the explorer.
 */
export function graphSections(schema: GraphQLSchema): Section[] {
  return kinds.map(({ kind, title, about }) => ({
    id: `graph-${title.toLowerCase()}`,
    title,
    about,
    entries: Object.values(schema.getRootType(kind)?.getFields() ?? {}).map((field) =>
      operationEntry(kind, field),
    ),
  }));
}

/**
 * Returns the table rows that describe an argument: one row for the argument, and one row for each field of its input
 * type.
 */
function argumentRows(argument: GraphQLArgument): FieldRow[] {
  const type = getNamedType(argument.type);
  const row = ({ name, type, description, deprecationReason }: GraphQLArgument | GraphQLInputField) => ({
    name,
    type: String(type),
    required: isNonNullType(type),
    deprecated: Boolean(deprecationReason),
    description: [description, deprecationReason].filter(Boolean).join(' '),
  });
  const fields = isInputObjectType(type) ? Object.values(type.getFields()) : [];
  return [
    row(argument),
    ...fields.map((field) => ({ ...row(field), name: `${argument.name}.${field.name}` })),
  ];
}

function operationEntry(kind: OperationTypeNode, field: GraphQLField<unknown, unknown>): Entry {
  const { name, description, args, type, deprecationReason } = field;
  const permission = field.extensions.permission as string | undefined;
  return {
    id: `${kind}-${name}`,
    title: name,
    search: [kind, name, description, permission, type, ...args.map((argument) => argument.name)]
      .join(' ')
      .toLowerCase(),
    content: (
      <>
        <div class="rest">
          <h3>
            <span class={`method ${kind}`}>{kind}</span> <code>{name}</code>
          </h3>
          <p class="badges">
            <span>
              gives <code>{String(type)}</code>
            </span>
            {permission && <span class="permission">{permission}</span>}
            {deprecationReason && <span class="deprecated">deprecated</span>}
          </p>
          <Prose text={description} />
          {deprecationReason && <Prose text={deprecationReason} />}
          <FieldTable title="Arguments" rows={args.flatMap(argumentRows)} />
        </div>
        <GraphDocument title="Example" operation={exampleOperation(kind, field)} />
      </>
    ),
  };
}
