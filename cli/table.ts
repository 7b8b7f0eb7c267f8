import stringWidth from 'string-width';

/** The text between two columns. */
const gap = '  ';
/** The minimum width of a cut column, including the ellipsis. */
const leastWidth = 8;

/** Fits a text into a width. A short text is padded with spaces, and a long text is cut and ends with an ellipsis. */
function fitted(text: string, width: number): string {
  const missing = width - stringWidth(text);
  if (missing >= 0) return text + ' '.repeat(missing);
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(kept + segment) >= width) break;
    kept += segment;
  }
  return fitted(`${kept}…`, width);
}

/** Returns the widths of columns that fit a terminal. The widest column is cut first. Some columns are never cut. */
function fittingWidths(
  widths: readonly number[],
  maxWidth: number,
  isWhole: (column: number) => boolean,
): number[] {
  const fitting = [...widths];
  const lineWidth = () => fitting.reduce((sum, width) => sum + width, gap.length * (fitting.length - 1));
  while (lineWidth() > maxWidth) {
    const cuttable = fitting.map((width, column) => (isWhole(column) ? 0 : width));
    const widest = cuttable.indexOf(Math.max(...cuttable));
    if (cuttable[widest]! <= leastWidth) break;
    fitting[widest]! -= 1;
  }
  return fitting;
}

/**
 * Returns lines of text in columns, with two spaces between the columns.
 *
 * @param rows the cells of each line
 * @param options.maxWidth the width of the terminal, to which lines are cut; without a width, lines are not cut
 * @param options.isWhole says which columns are never cut
 */
export function textInColumns(
  rows: readonly (readonly string[])[],
  { maxWidth = Infinity, isWhole }: { maxWidth?: number | undefined; isWhole: (column: number) => boolean },
): string {
  const natural = (rows[0] ?? []).map((_, column) =>
    rows.reduce((widest, cells) => Math.max(widest, stringWidth(cells[column]!)), 0),
  );
  const widths = fittingWidths(natural, maxWidth, isWhole);
  return rows
    .map(
      (cells) =>
        `${cells
          .map((text, column) => fitted(text, widths[column]!))
          .join(gap)
          .trimEnd()}\n`,
    )
    .join('');
}
