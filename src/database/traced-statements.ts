import { SpanKind } from '@opentelemetry/api';
import type { SqlDriverAdapter, SqlDriverAdapterFactory, SqlQueryable } from '@prisma/driver-adapter-utils';
import { activeTracer, inSpan } from '../observability/spans.ts';
import type { Sql } from './types.ts';

const databaseSystem = { 'db.system.name': 'postgresql' };

/** Returns the name of the tracing span for a Prisma statement: the first word of the statement, such as SELECT. */
const verbOf = (text: string) => /^\s*(\w+)/.exec(text)?.[1]?.toUpperCase() ?? 'statement';

/**
 * Runs an SQL statement within a tracing span, if the gateway records spans. A tracing span never contains the values
 * of the SQL parameters.
 *
 * @param name the name of the tracing span (default, also for an empty name: the first word of the SQL statement)
 */
function traced<Result>(
  run: () => Promise<Result>,
  { text, name }: { text: string; name?: string },
): Promise<Result> {
  const tracer = activeTracer();
  if (!tracer) return run();
  const attributes = { ...databaseSystem, 'db.query.text': text };
  return inSpan(tracer, name || verbOf(text), { kind: SpanKind.CLIENT, attributes }, run);
}

/**
 * Wraps a database connection, so that each hand-written SQL statement runs within a tracing span with the name of the
 * SQL statement.
 */
export const tracedSql = (sql: Sql): Sql => ({
  query: (statement, values) => traced(() => sql.query(statement, values), statement),
});

function traceStatements(queryable: SqlQueryable): void {
  const queryRaw = queryable.queryRaw.bind(queryable);
  const executeRaw = queryable.executeRaw.bind(queryable);
  queryable.queryRaw = (query) => traced(() => queryRaw(query), { text: query.sql });
  queryable.executeRaw = (query) => traced(() => executeRaw(query), { text: query.sql });
}

/** Wraps Prisma's adapters, so that each statement of Prisma runs within a tracing span, also inside a transaction. */
export function tracedAdapters<Factory extends SqlDriverAdapterFactory>(factory: Factory): Factory {
  const connect = factory.connect.bind(factory);
  factory.connect = async () => {
    const adapter: SqlDriverAdapter = await connect();
    traceStatements(adapter);
    const startTransaction = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async (isolationLevel) => {
      const transaction = await startTransaction(isolationLevel);
      traceStatements(transaction);
      return transaction;
    };
    return adapter;
  };
  return factory;
}
