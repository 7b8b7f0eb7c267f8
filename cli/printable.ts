/** Characters that a terminal would interpret: control characters, and characters that change the writing direction. */
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/**
 * Escapes text from a server for output on a terminal. Each control character becomes visible text such as `\u001b`,
 * and a line feed becomes `\n`.
 */
export const printable = (text: string): string =>
  text.replace(unprintable, (character) =>
    character === '\n' ? '\\n' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * Escapes a text of several lines for output on a terminal, but does not escape its line feeds.
 *
 * @param text one or more lines of plain text or JSON. In a JSON string, an escape such as `\u001b` means the same as
 *   the escaped character
 */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');
