/**
 * Tells TypeScript that a script may import a CSS file. The import of a CSS file returns no value to the script,
 * because esbuild bundles the imported style sheets.
 */
declare module '*.css';
