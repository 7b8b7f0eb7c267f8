/** A description in words for each regular expression that the API uses. */
const words: Record<string, string> = {
  [String.raw`\S`]: 'not blank',
  [String.raw`^[^\x00-\x08\x0B-\x1F\x7F-\x9F]*$`]: 'no control characters other than tab and newline',
  [String.raw`^[^\x00-\x1F\x21-\x25\x27\x2A-\x2B\x2F\x3A-\x40\x5B-\x60\x7B-\x9F]*$`]:
    'letters, digits, spaces, and & ( ) , - .',
  [String.raw`^[\w-]{48}$`]: '48 letters, digits, _ or -',
  '^[A-Z]{2,4}$': '2 to 4 capital letters',
  '^(White|[A-Za-z0-9]{1,3})$': 'White, or 1 to 3 letters and digits',
  '^[0-9]{1,20}$': '1 to 20 digits',
  '^[a-z0-9]+(-[a-z0-9]+)*$': 'lower-case letters and digits, in parts joined by one hyphen',
};

/**
 * Returns the description of a regular expression from the map `words`. If the map `words` has no description of the
 * regular expression, the function returns the regular expression itself. If `words` has no description of a regular
 * expression of the API, a test fails.
 */
export const patternInWords = (pattern: string): string => words[pattern] ?? pattern;
