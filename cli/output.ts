import Table from 'cli-table3';

/** Where a command reads and writes: results go to `out`, everything else to `err`. */
export interface Streams {
  in: NodeJS.ReadableStream;
  out: NodeJS.WritableStream;
  err: NodeJS.WritableStream & { isTTY?: boolean };
}

/** Shows results as JSON for scripts or as tables for people. */
export interface Output {
  /** Shows one thing: its columns stand below each other. */
  one<Value extends object>(value: Value, columns: Columns<Value>): void;
  /** Shows many things, one in a row. */
  many<Value extends object>(values: readonly Value[], columns: Columns<Value>): void;
  /** Shows one of a sequence that goes on: JSON in one line for scripts, or a line for people. */
  next(value: object, line: string): void;
  /** Says something to the person; it is no result. */
  say(line: string): void;
}

/** The columns of a table: what people call them, and the property or how it is made of the value. */
type Columns<Value> = Readonly<Record<string, (keyof Value & string) | ((value: Value) => unknown)>>;

/** The most characters of a line of a table. */
const maxTableWidth = 100;
/** What a table draws around the text of a cell, in characters: a line and a space on either side. */
const cellFrameWidth = 3;
/** Words up to this length are kept whole while anything else gives way: an identifier has 36 characters. */
const maxUnbrokenWord = 36;
/** Columns with longer words give way down to this width first, in characters. */
const minBrokenWidth = 12;

const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

/** A value in a cell: lists in lines of their own, times to the second, nothing as a dash. */
function cell(value: unknown): string {
  if (Array.isArray(value)) return value.length > 0 ? value.map(cell).join('\n') : '-';
  if (value === null || value === undefined || value === '') return '-';
  const text = String(value);
  return instant.test(text) ? `${text.slice(0, 19).replace('T', ' ')}Z` : text.replaceAll('\t', ' ');
}

/** The lengths of the parts of the cells of a column, and of its head. */
const longest = (cells: readonly string[], separator: RegExp) =>
  Math.max(...cells.flatMap((text) => text.split(separator)).map(({ length }) => length));

/** The widths with which columns fit a line: the widest give way, and words are broken last. */
function columnWidths(columns: readonly (readonly string[])[]): number[] {
  const widths = columns.map((cells) => longest(cells, /\n/));
  const unbroken = columns.map((cells) => {
    const word = longest(cells, /\s/);
    return word > maxUnbrokenWord ? minBrokenWidth : word;
  });
  const room = maxTableWidth - 1 - columns.length * cellFrameWidth;
  const excess = () => widths.reduce((sum, width) => sum + width, 0) - room;
  while (excess() > 0) {
    const shrinking = widths.some((width, index) => width > unbroken[index]!)
      ? widths.map((width, index) => (width > unbroken[index]! ? width : 0))
      : widths;
    const widest = shrinking.indexOf(Math.max(...shrinking));
    widths[widest]! -= 1;
  }
  return widths;
}

/** Breaks words that are longer than their column: the table would cut them off. */
const breakWords = (text: string, width: number) =>
  text.replace(/\S+/g, (word) => word.match(new RegExp(`.{1,${width}}`, 'gu'))!.join('\n'));

/** A table in text. Colours are for terminals; tables go into mails and tickets as well. */
function tableOf(rows: readonly string[][], head: readonly string[] = []): string {
  const lines = head.length > 0 ? [head, ...rows] : rows;
  const columns = lines[0]!.map((_, index) => lines.map((cells) => cells[index]!));
  const widths = columnWidths(columns);
  const table = new Table({
    style: { head: [], border: [] },
    head: [...head],
    colWidths: widths.map((width) => width + cellFrameWidth - 1),
    wordWrap: true,
  });
  table.push(...rows.map((cells) => cells.map((text, index) => breakWords(text, widths[index]!))));
  return table.toString();
}

/** Creates the output of a command. */
export function createOutput({ out, err }: Streams, { json }: { json: boolean }): Output {
  const show = (value: unknown) => void out.write(`${JSON.stringify(value, null, 2)}\n`);
  const cells = <Value extends object>(value: Value, columns: Columns<Value>) =>
    Object.values(columns).map((column) => cell(typeof column === 'string' ? value[column] : column(value)));

  return {
    one(value, columns) {
      if (json) return show(value);
      const names = Object.keys(columns);
      out.write(`${tableOf(cells(value, columns).map((text, index) => [names[index]!, text]))}\n`);
    },
    many(values, columns) {
      if (json) return show(values);
      const rows = values.map((value) => cells(value, columns));
      out.write(`${tableOf(rows, Object.keys(columns))}\n`);
    },
    next: (value, line) => void out.write(`${json ? JSON.stringify(value) : line}\n`),
    say: (line) => void err.write(`${line}\n`),
  };
}
