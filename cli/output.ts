import type { Readable } from 'node:stream';
import { printable, printableLines } from './printable.ts';
import { shortIds } from './short-ids.ts';
import { textInColumns } from './table.ts';

/** The output streams of a command. Results go to `out`, all other text to `err`. */
export interface Streams {
  in: Readable;
  out: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  err: NodeJS.WritableStream & { isTTY?: boolean };
}

/** Shows results as JSON for scripts, or as tables for people. */
export interface Output {
  /** Shows one object with complete identifiers. Each column becomes a line. */
  one<Value extends object>(value: Value, columns: Columns<Value>): void;
  /**
   * Shows a list of objects, one object per row. The column of the property `id` has short identifiers.
   *
   * @param options.fullIds shows complete identifiers, for lists whose ids the next command accepts only in full
   */
  many<Value extends object>(
    values: readonly Value[],
    columns: Columns<Value>,
    options?: { fullIds?: boolean },
  ): void;
  /** Shows the next object of a sequence. Scripts get one line of JSON, and people get text lines. */
  next(value: object, ...lines: readonly string[]): void;
  /** Prints a message of one or more lines. The message is not part of the result. */
  say(line: string): void;
  /**
   * Sets the function that writes messages, for example above a progress bar. With undefined, messages go to `err`
   * again.
   */
  sayThrough(write: ((text: string) => void) | undefined): void;
}

/** The columns of a table. Each title has a property, or a function that computes the cell. */
type Columns<Value> = Readonly<Record<string, (keyof Value & string) | ((value: Value) => unknown)>>;

const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

/** Returns a value as text for people. Times are shown to the second, and missing values as a dash. */
function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  const text = String(value);
  return instant.test(text)
    ? `${text.slice(0, 19).replace('T', ' ')}Z`
    : printable(text.replaceAll('\t', ' '));
}

/** Returns the texts of a value. A list has one text for each item. */
const textsOf = (value: unknown): string[] =>
  Array.isArray(value) && value.length > 0
    ? value.map(textOf)
    : [textOf(Array.isArray(value) ? null : value)];

/** Creates the output of a command. */
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
      const maxWidth = out.isTTY ? out.columns : undefined;
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
