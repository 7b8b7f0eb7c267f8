const lineOf = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

/** Returns a table as Markdown text. */
export const markdownTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map(lineOf).join('\n');
