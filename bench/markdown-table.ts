const lineOf = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

/** Writes a table in Markdown. */
export const markdownTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map(lineOf).join('\n');
