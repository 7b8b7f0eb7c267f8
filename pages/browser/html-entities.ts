// The build gives this module to markdown-it in place of the package `entities`, because browsers already know the
// names of all characters.

/** Replaces character references, such as `&amp;`, by the characters. */
export function decodeHTML(text: string): string {
  // This parser is safe, because a document that it creates runs no scripts and loads no files.
  return new DOMParser().parseFromString(text, 'text/html').documentElement.textContent ?? text;
}

/**
 * Replaces a text that is a single character reference by its character. markdown-it calls this function only for such
 * texts.
 */
export function decodeHTMLStrict(text: string): string {
  return decodeHTML(text);
}
