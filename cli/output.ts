import Table from 'cli-table3';

/** Where a command writes: results to `out`, everything else to `err`. */
export interface Streams {
  out: NodeJS.WritableStream;
  err: NodeJS.WritableStream & { isTTY?: boolean };
}

/** Shows results as JSON for scripts or as tables for people. */
export interface Output {
  /** Shows one thing: its columns stand below each other. */
  one(value: object, columns: Columns): void;
  /** Shows many things, one in a row. */
  many(values: readonly object[], columns: Columns): void;
  /** Says something to the person; it is no result. */
  say(line: string): void;
}

/** The columns of a table: the property, and what people call it. */
export type Columns = Readonly<Record<string, string>>;

/** A value in a cell: lists in lines of their own, nothing as a dash. */
function cell(value: unknown): string {
  if (Array.isArray(value)) return value.length > 0 ? value.join('\n') : '-';
  return value === null || value === undefined || value === '' ? '-' : String(value);
}

/** Creates the output of a command. */
export function createOutput({ out, err }: Streams, { json }: { json: boolean }): Output {
  const show = (value: unknown) => out.write(`${JSON.stringify(value, null, 2)}\n`);
  const cells = (value: object, columns: Columns) =>
    Object.keys(columns).map((name) => cell((value as Record<string, unknown>)[name]));
  // Colours are for terminals; tables go into mails and tickets as well.
  const style = { head: [], border: [] };

  return {
    one(value, columns) {
      if (json) return show(value);
      const table = new Table({ style });
      cells(value, columns).forEach((text, index) => {
        table.push({ [Object.values(columns)[index]!]: text });
      });
      out.write(`${table.toString()}\n`);
    },
    many(values, columns) {
      if (json) return show(values);
      const table = new Table({ style, head: Object.values(columns) });
      table.push(...values.map((value) => cells(value, columns)));
      out.write(`${table.toString()}\n`);
    },
    say: (line) => err.write(`${line}\n`),
  };
}
