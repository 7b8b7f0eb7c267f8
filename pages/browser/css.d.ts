/**
 * Tells TypeScript that a script may import a style sheet, although the import provides no value. esbuild bundles the
 * imported style sheets.
 */
declare module '*.css';
