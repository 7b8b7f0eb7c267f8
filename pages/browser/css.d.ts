/**
 * Tells TypeScript that a script may import a CSS file. The import has no value in the script. esbuild bundles the
 * imported style sheets.
 */
declare module '*.css';
