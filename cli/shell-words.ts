import { exitCode, Failure } from './failure.ts';

/** What `\` and a letter stand for between `$'` and `'`. */
const escapedLetters: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  v: '\v',
};

/** Replaces the escapes of a text between `$'` and `'`, as browsers write texts that are not plain. */
const unescape = (text: string) =>
  text.replace(
    /\\(?:u([\dA-Fa-f]{1,4})|U([\dA-Fa-f]{1,8})|x([\dA-Fa-f]{1,2})|([0-7]{1,3})|([\s\S]))/g,
    (_, u?: string, long?: string, x?: string, octal?: string, letter?: string) => {
      const hexadecimal = u ?? long ?? x;
      if (hexadecimal) return String.fromCodePoint(Number.parseInt(hexadecimal, 16));
      if (octal) return String.fromCodePoint(Number.parseInt(octal, 8));
      return escapedLetters[letter!] ?? letter!;
    },
  );

/** A piece of a word: in single quotes, with escapes, in double quotes, one escaped character, or plain. */
const piece = /'([^']*)'|\$'((?:\\[\s\S]|[^'\\])*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])|([^\s'"\\$]+|\$)/y;
/** What may stand between words: blanks, and a line that goes on in the next. */
const blanks = /(?:[ \t\r]|\\\r?\n)+/y;
const comment = /#.*/y;
/** What ends the words of a command: a pipe, a redirection, the next command. */
const operator = /\d?[|<>]|&(?:&|\s|$)|;/y;
const restOfLine = /.*/y;

/**
 * The commands of a shell script, one a line, each as its words. Quotes and continued lines are read as bash reads
 * them; variables and what follows a pipe or a redirection are not: the former stay as written, the latter is left
 * out.
 *
 * @throws {Failure} when a quote does not end
 */
export function shellCommands(text: string): string[][] {
  const commands: string[][] = [[]];
  let at = 0;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at += match[0].length;
    return match;
  };
  while (at < text.length) {
    if (take(blanks) || take(comment)) continue;
    if (text[at] === '\n') {
      at += 1;
      commands.push([]);
      continue;
    }
    if (take(operator)) {
      take(restOfLine);
      continue;
    }
    let word = '';
    for (let match = take(piece); match; match = take(piece)) {
      const [, single, escaped, double, character, plain] = match;
      if (escaped !== undefined) word += unescape(escaped);
      else if (double !== undefined) word += double.replace(/\\([$`"\\])|\\\n/g, '$1');
      else word += single ?? character ?? plain ?? '';
    }
    if (at < text.length && !/\s/.test(text[at]!)) {
      throw new Failure(`A quote does not end: ${text.slice(at, at + 40)}`, exitCode.usage);
    }
    commands.at(-1)!.push(word);
  }
  return commands.filter((words) => words.length > 0);
}
