import stringWidth from 'string-width';

/** The spaces between two columns of a table. */
const gap = '  ';
/**
 * The minimum width of a table column whose texts are cut because they do not fit. The minimum width includes the
 * ellipsis that follows the shortened text.
 */
const leastWidth = 8;

/**
 * Shortens or pads a text to a given width. A text that is too short is padded with spaces. The function shortens a
 * text that is too long, and adds an ellipsis.
 */
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

/**
 * Returns a width for each column of a table, so that the table fits into a given total width. If the table is too
 * wide, the function first makes the widest column narrower. If `isWhole` returns true for a column, the function does
 * not make this column narrower.
 */
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
 * Returns a table as lines of text, with two spaces between the columns.
 *
 * @param rows the lines of the table, each with the texts of its cells
 * @param options.maxWidth the width of the terminal; the function cuts longer lines to this width. Without `maxWidth`,
 *   the function returns every line in full
 * @param options.isWhole a function that returns true for a column if the table must not shorten the texts of this
 *   column
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
