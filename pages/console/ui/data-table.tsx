/** @jsxImportSource react */
import type { ReactNode } from 'react';
import { texts } from '../texts.ts';
import { Button } from './controls.tsx';

/** A column of a table in the console. */
export interface Column<Row> {
  title: string;
  cell(row: Row): ReactNode;
  /** Whether the column contains numbers. Numbers are aligned to the right edge of the column. */
  numeric?: boolean;
}

/** A table with a header. On a narrow screen, the user can scroll the table horizontally. */
export function DataTable<Row>(props: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
}) {
  const { label, columns, rows, keyOf } = props;
  return (
    <div className="scroll" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(({ title, numeric }) => (
              <th key={title} scope="col" className={numeric ? 'numeric' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, cell, numeric }) => (
                <td key={title} className={numeric ? 'numeric' : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The buttons for the previous and the next page of a list. */
export function Pager(props: { onPrevious: (() => void) | undefined; onNext: (() => void) | undefined }) {
  const { onPrevious, onNext } = props;
  if (!onPrevious && !onNext) return null;
  return (
    <nav className="pager" aria-label={texts.state.pages}>
      <Button isDisabled={!onPrevious} onPress={() => onPrevious?.()}>
        {texts.state.previous}
      </Button>
      <Button isDisabled={!onNext} onPress={() => onNext?.()}>
        {texts.state.next}
      </Button>
    </nav>
  );
}
