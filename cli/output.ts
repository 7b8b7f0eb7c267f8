import type { Readable } from 'node:stream';
import { printable, printableLines } from './printable.ts';
import { shortIds } from './short-ids.ts';
import { textInColumns } from './table.ts';

/**
 * The input and output streams of a command. The stream `in` is for input, the stream `out` is for results, and the
 * stream `err` is for all other text.
 */
export interface Streams {
  in: Readable & { fd?: number };
  out: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  err: NodeJS.WritableStream & { isTTY?: boolean };
}

/** Shows results as JSON for scripts, or as tables for people. */
export interface Output {
  /** Shows one object with its complete identifiers, as JSON or as a table with one line for each property. */
  one<Value extends object>(value: Value, columns: Columns<Value>): void;
  /**
   * Shows a list of objects. A table has one row for each object. In a table, the property `id` shows only the last
   * characters of the identifier.
   *
   * @param options.fullIds true to show complete identifiers, because the commands for these objects accept only
   *   complete identifiers
   */
  many<Value extends object>(
    values: readonly Value[],
    columns: Columns<Value>,
    options?: { fullIds?: boolean },
  ): void;
  /**
   * Shows one result of a command that returns several results one after the other. If the output format is JSON,
   * `next` prints `value` as one line of JSON. If the output format is text, `next` prints the argument `lines`.
   */
  next(value: object, ...lines: readonly string[]): void;
  /** Prints a message for the user that is not part of the command's result. */
  say(line: string): void;
  /**
   * Sets `write`, the function that prints the command's messages for the user. For example, a command with a progress
   * bar passes a function that prints the messages above the progress bar. If `write` is `undefined`, messages are
   * printed to the stream `err`, which is the default.
   */
  sayThrough(write: ((text: string) => void) | undefined): void;
}

/**
 * The columns of a table; each key of this object is the title of a column. Under this key, the object contains the
 * name of the property that the column shows, or a function that returns the content of a cell.
 */
type Columns<Value> = Readonly<Record<string, (keyof Value & string) | ((value: Value) => unknown)>>;

const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

/**
 * Converts a value to a text that people can read. A time appears without milliseconds, and a missing value appears as
 * a dash.
 */
function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  const text = String(value);
  return instant.test(text)
    ? `${text.slice(0, 19).replace('T', ' ')}Z`
    : printable(text.replaceAll('\t', ' '));
}

/** Converts a value to a list of texts: one text for each item of an array, or one text for any other value. */
const textsOf = (value: unknown): string[] =>
  Array.isArray(value) && value.length > 0
    ? value.map(textOf)
    : [textOf(Array.isArray(value) ? null : value)];

/** Creates the object that prints the results and messages of a command. */
export function createOutput(
  { out, err }: Streams,
  { json, fullIds }: { json: boolean; fullIds: boolean },
): Output {
  const show = (value: unknown) => void out.write(`${printableLines(JSON.stringify(value, null, 2))}\n`);
  const cells = <Value extends object>(value: Value, columns: Columns<Value>) =>
    Object.values(columns).map((column) =>
      textsOf(typeof column === 'string' ? value[column] : column(value)),
    );
  const writeToErr = (text: string) => void err.write(text);
  let writeSaid: (text: string) => void = writeToErr;

  return {
    one(value, columns) {
      if (json) return show(value);
      const names = Object.keys(columns);
      const lines = cells(value, columns).flatMap((texts, column) =>
        texts.map((text, index) => [index === 0 ? names[column]! : '', text]),
      );
      out.write(textInColumns(lines, { isWhole: () => true }));
    },
    many(values, columns, options) {
      if (json) return show(values);
      const rows = values.map((value) => cells(value, columns).map((texts) => texts.join(', ')));
      const idColumn = Object.values(columns).findIndex((column) => column === 'id');
      if (idColumn >= 0 && !fullIds && !options?.fullIds) {
        const ids = shortIds(rows.map((row) => row[idColumn]!));
        rows.forEach((row, index) => (row[idColumn] = ids[index]!));
      }
      const head = Object.keys(columns).map((name) => name.toUpperCase());
      // A terminal whose size is unknown, such as a serial console, has 0 columns.
      const maxWidth = out.isTTY && out.columns !== 0 ? out.columns : undefined;
      out.write(textInColumns([head, ...rows], { maxWidth, isWhole: (column) => column === idColumn }));
    },
    next: (value, ...lines) =>
      void out.write(`${(json ? [JSON.stringify(value)] : lines).map(printable).join('\n')}\n`),
    say: (line) => writeSaid(`${printableLines(line)}\n`),
    sayThrough(write = writeToErr) {
      writeSaid = write;
    },
  };
}
