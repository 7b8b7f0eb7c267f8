import { exitCode, Failure } from './failure.ts';

/** The largest code point of Unicode. */
const largestCodePoint = 0x10ffff;

/**
 * Maps the letter of a shell escape sequence to the escaped character. For example, `n` in `$'…\n…'` means a line feed.
 */
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

/** Returns the character with a given code point, which comes from an escape sequence. */
function characterOf(codePoint: number): string {
  if (codePoint <= largestCodePoint) return String.fromCodePoint(codePoint);
  throw new Failure(
    String.raw`The number after \U in a text between $' and ' must be at most 10FFFF`,
    exitCode.usage,
  );
}

/**
 * Replaces the escape sequences in a part of a shell command that is quoted in the form `$'…'`. A browser writes
 * special characters in the form `$'…'` when it copies a request as a curl command.
 */
const unescape = (text: string) =>
  text.replace(
    /\\(?:u([\dA-Fa-f]{1,4})|U([\dA-Fa-f]{1,8})|x([\dA-Fa-f]{1,2})|([0-7]{1,3})|([\s\S]))/g,
    (_, u?: string, long?: string, x?: string, octal?: string, letter?: string) => {
      const hexadecimal = u ?? long ?? x;
      if (hexadecimal) return characterOf(Number.parseInt(hexadecimal, 16));
      if (octal) return String.fromCodePoint(Number.parseInt(octal, 8));
      return escapedLetters[letter!] ?? letter!;
    },
  );

/**
 * Matches a part of a word of a shell command. A part of a word is one of the following: a text in single quotes, a
 * text in the form `$'…'`, a text in double quotes, one escaped character, or plain text. The plain text in a word ends
 * before a shell operator (such as `|` or `;`). A single `&` inside plain text is not an operator. A user can therefore
 * write a URL with a query without quotes.
 */
const piece =
  /'([^']*)'|\$'((?:\\[\s\S]|[^'\\])*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])|((?:[^\s'"\\$;|<>&()`]|&(?!&|\s|$))+|\$)/y;
/**
 * Matches the white space between two words of a shell command, including line breaks after a backslash. The pattern
 * matches all kinds of white space, even the non-breaking spaces in a command that a user has copied from a web page.
 */
const blanks = /(?:[^\S\n]|\\\r?\n)+/y;
const comment = /#[^\n]*/y;
/** Matches a shell operator that ends a command, such as a pipe, a line break or the end of a command substitution. */
const separator = /[\n|;()`]|&(?=[&\s]|$)/y;
/**
 * Matches the operator of a redirection in a shell command, such as `>` or `<`. The word after the operator of a
 * redirection is the name of a file.
 */
const redirection = /(?:\d*|&)(?:<<[<-]?|<>|>[>|]?|<)&?/y;

/**
 * The error messages for words of a shell command that are incomplete, for example because a quotation mark is not
 * closed. The keys of this object are the characters at which an incomplete part of a word can begin, such as an
 * opening quotation mark.
 */
const incompleteWords: Record<string, string> = {
  "'": 'a single quote is not closed',
  '"': 'a double quote is not closed',
  '\\': 'nothing follows the backslash',
};

/**
 * Creates the error for an incomplete word of a shell command. The error message does not contain the incomplete word,
 * because this word may be a header with an API key.
 */
function incompleteWord(text: string, at: number): Failure {
  const line = text.slice(0, at).split('\n').length;
  return new Failure(`Line ${line}: ${incompleteWords[text[at]!]}`, exitCode.usage);
}

/**
 * Splits a shell script into commands, and each command into words. Quotes and lines that end with a backslash work as
 * in bash, but the function does not replace variables with their values. The function skips redirections.
 *
 * @throws {Failure} when a word in the text is incomplete, for example because a closing quotation mark is missing
 */
export function shellCommands(text: string): string[][] {
  const commands: string[][] = [[]];
  let at = 0;
  let isFileName = false;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at += match[0].length;
    return match;
  };
  while (at < text.length) {
    if (take(blanks) || take(comment)) continue;
    if (take(redirection)) {
      isFileName = true;
      continue;
    }
    if (take(separator)) {
      isFileName = false;
      commands.push([]);
      continue;
    }
    let word = '';
    for (let match = take(piece); match; match = take(piece)) {
      const [, single, escaped, double, character, plain] = match;
      if (escaped !== undefined) word += unescape(escaped);
      else if (double !== undefined) word += double.replace(/\\([$`"\\])|\\\n/g, '$1');
      else word += single ?? character ?? plain ?? '';
    }
    if (Object.hasOwn(incompleteWords, text[at] ?? '')) throw incompleteWord(text, at);
    if (!isFileName) commands.at(-1)!.push(word);
    isFileName = false;
  }
  return commands.filter((words) => words.length > 0);
}

/** Joins words into a shell command. The function puts a word with special characters in quotes. */
export const commandLine = (words: readonly string[]): string =>
  words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ');
