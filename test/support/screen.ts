/**
 * Returns the lines that a terminal shows after a program has written a text to the terminal. The text may contain the
 * control sequences of a progress bar, which move the cursor or clear a line.
 */
export function screenOf(text: string): string[] {
  const lines: string[][] = [[]];
  let [row, column] = [0, 0];
  for (const [piece, escape, count, command] of text.matchAll(/(\x1b\[(\d*)([A-Za-z]))|[^]/g)) {
    if (escape) {
      if (command === 'G') column = Number(count || 1) - 1;
      else if (command === 'A') row = Math.max(row - Number(count || 1), 0);
      else if (command === 'K' && count === '2') lines[row] = [];
      else if (command === 'K') lines[row]!.length = Math.min(lines[row]!.length, column);
      else throw new Error(`The screen does not support ${JSON.stringify(piece)}`);
    } else if (piece === '\r') column = 0;
    else if (piece === '\n') {
      row += 1;
      column = 0;
      lines[row] ??= [];
    } else {
      while (lines[row]!.length < column) lines[row]!.push(' ');
      lines[row]![column] = piece;
      column += 1;
    }
  }
  return lines.map((characters) => characters.join('').trimEnd());
}
