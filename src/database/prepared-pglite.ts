import {
  messages,
  parse,
  PGlite,
  protocol,
  type QueryOptions,
  type Results,
  type Transaction,
} from '@electric-sql/pglite';
import { createStatementNamer } from './statement-namer.ts';

type Message = Awaited<ReturnType<PGlite['execProtocolStream']>>[number];

/** An SQL statement that PostgreSQL has parsed. */
interface Prepared {
  /**
   * The name of the prepared statement. PostgreSQL keeps an unnamed prepared statement only until the next statement is
   * prepared.
   */
  name: string;
  /** The types of the SQL parameters, as the type numbers (OIDs) of PostgreSQL. */
  parameterTypes: number[];
  /**
   * PostgreSQL's description of the columns in the result, or `undefined` when the statement returns no rows.
   * PostgreSQL sends the description of the result columns only once for each prepared statement.
   */
  columns: messages.RowDescriptionMessage | undefined;
}

const { serialize } = protocol;

/**
 * PGlite with prepared statements. For each execution of a statement, the class PGlite parses the SQL text again, and
 * calls PostgreSQL six times. `PreparedPGlite` parses an SQL text only once, and calls PostgreSQL only once for each
 * execution. `PreparedPGlite` sends the messages of PostgreSQL's extended query protocol
 * (https://www.postgresql.org/docs/17/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY).
 */
export class PreparedPGlite extends PGlite {
  readonly #nameOf = createStatementNamer();
  readonly #prepared = new Map<string, Prepared>();

  override async query<Row>(text: string, values?: unknown[], options?: QueryOptions): Promise<Results<Row>> {
    await this._checkReady();
    return this._runExclusiveTransaction(() => this.#run<Row>(text, values, options));
  }

  override transaction<Result>(callback: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return super.transaction((transaction) => {
      const { query } = transaction;
      transaction.query = <Row>(text: string, values?: unknown[], options?: QueryOptions) =>
        // After the end of the transaction, this method calls the function `query` of PGlite, which throws the correct
        // error for an ended transaction.
        transaction.closed ? query<Row>(text, values, options) : this.#run<Row>(text, values, options);
      return callback(transaction);
    });
  }

  #run<Row>(text: string, values: unknown[] = [], options: QueryOptions = {}): Promise<Results<Row>> {
    return this._runExclusiveQuery(async () => {
      const { name, parameterTypes, columns } = this.#prepared.get(text) ?? (await this.#prepare(text));
      const parameters = values.map((value, index) => {
        if (value === null || value === undefined) return null;
        const toText = this.serializers[parameterTypes[index]!];
        return toText ? toText(value) : String(value);
      });
      const rows = await this.#send([
        serialize.bind({ statement: name, values: parameters }),
        serialize.execute({}),
      ]);
      const [results] = parse.parseResults(
        columns ? [columns, ...rows] : rows,
        this.#parsersOf(columns?.fields ?? [], options.parsers),
        { ...(options.rowMode && { rowMode: options.rowMode }) },
      );
      return results as Results<Row>;
    });
  }

  async #prepare(text: string): Promise<Prepared> {
    const name = this.#nameOf({ sql: text });
    const described = await this.#send([
      serialize.parse({ name, text }),
      serialize.describe({ type: 'S', name }),
    ]);
    const prepared = {
      name,
      parameterTypes: parse.parseDescribeStatementResults(described),
      columns: described.find((message) => message instanceof messages.RowDescriptionMessage),
    };
    if (name !== '') this.#prepared.set(text, prepared);
    return prepared;
  }

  /**
   * Sends messages to PostgreSQL, and then a Sync message. After an error, PostgreSQL ignores all further messages
   * until it receives a Sync message.
   *
   * @throws {messages.DatabaseError} when PostgreSQL responds with an error
   */
  #send(parts: Uint8Array[]): Promise<Message[]> {
    return this.execProtocolStream(Buffer.concat([...parts, serialize.sync()]));
  }

  /**
   * Returns only the parsers that PGlite needs for the types of the given columns. For each result, PGlite copies all
   * parsers that it gets. PGlite has several hundred parsers, and copying all of them would be slow.
   */
  #parsersOf(columns: readonly { dataTypeID: number }[], own: QueryOptions['parsers']): PGlite['parsers'] {
    const parsers: PGlite['parsers'] = {};
    for (const { dataTypeID: type } of columns) {
      const parser = own?.[type] ?? this.parsers[type];
      if (parser) parsers[type] = parser;
    }
    return parsers;
  }
}
