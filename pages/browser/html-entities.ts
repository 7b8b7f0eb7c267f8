// The build gives this module to markdown-it in place of the package `entities`. Browsers already know the names of all
// characters, so the package is not needed.

/** Replaces character references such as `&amp;` by the characters that they mean. */
export function decodeHTML(text: string): string {
  // The parser is safe here, because the parsed document runs no scripts and loads no files.
  return new DOMParser().parseFromString(text, 'text/html').documentElement.textContent ?? text;
}

/**
 * Replaces a text that consists of a single character reference by its character. markdown-it calls this function only
 * for texts of this form.
 */
export function decodeHTMLStrict(text: string): string {
  return decodeHTML(text);
}
