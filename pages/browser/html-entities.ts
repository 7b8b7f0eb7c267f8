// In the browser bundle, this module replaces the package `entities`, which markdown-it imports. The package `entities`
// is not needed, because browsers can decode all named character references themselves.

/** Replaces character references in a text with their characters, for example `&amp;` with `&`. */
export function decodeHTML(text: string): string {
  // Parsing any text is safe, because a document from DOMParser runs no scripts and loads no files.
  return new DOMParser().parseFromString(text, 'text/html').documentElement.textContent ?? text;
}

/**
 * Returns the character for a character reference such as `&amp;`. The library markdown-it calls `decodeHTMLStrict`
 * with exactly one character reference.
 */
export function decodeHTMLStrict(text: string): string {
  return decodeHTML(text);
}
