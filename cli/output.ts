import type { Readable } from 'node:stream';
import { printable, printableLines } from './printable.ts';
import { shortIds } from './short-ids.ts';
import { textInColumns } from './table.ts';

/** The output streams of a command. `out` is for results, and `err` is for all other text. */
export interface Streams {
  in: Readable;
  out: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  err: NodeJS.WritableStream & { isTTY?: boolean };
}

/** Shows results as JSON for scripts, or as tables for people. */
export interface Output {
  /** Shows one object with complete identifiers. Each property is a line. */
  one<Value extends object>(value: Value, columns: Columns<Value>): void;
  /**
   * Shows a list of objects. Each object is a row, and the column of the property `id` has short identifiers.
   *
   * @param options.fullIds shows complete identifiers, for lists whose ids the next command accepts only in full
   */
  many<Value extends object>(
    values: readonly Value[],
    columns: Columns<Value>,
    options?: { fullIds?: boolean },
  ): void;
  /**
   * Shows the next object of a sequence. In JSON output, it is a line of JSON. Otherwise it is the given lines of text.
   */
  next(value: object, ...lines: readonly string[]): void;
  /** Prints a message for the user. The message is not part of the result. */
  say(line: string): void;
  /**
   * Sets the function that prints messages, for example above a progress bar. undefined restores the default, which is
   * `err`.
   */
  sayThrough(write: ((text: string) => void) | undefined): void;
}

/**
 * The columns of a table by their titles. Each has the name of a property, or a function that returns the text of a
 * cell.
 */
type Columns<Value> = Readonly<Record<string, (keyof Value & string) | ((value: Value) => unknown)>>;

const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

/** Returns a value as text for people. A time is shown without milliseconds, and a missing value as a dash. */
function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  const text = String(value);
  return instant.test(text)
    ? `${text.slice(0, 19).replace('T', ' ')}Z`
    : printable(text.replaceAll('\t', ' '));
}

/** Returns a value as texts. A list has a text for each of its items. */
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
