// The build gives this module to markdown-it instead of the package `entities`, since browsers already know the names of
// all characters.

/** Replaces references to characters, such as `&amp;`, by the characters. */
export function decodeHTML(text: string): string {
  // A parsed document runs no scripts and loads no files.
  return new DOMParser().parseFromString(text, 'text/html').documentElement.textContent ?? text;
}

/** The same for whole references: markdown-it gives no others to it. */
export function decodeHTMLStrict(text: string): string {
  return decodeHTML(text);
}
