/**
 * Tells TypeScript that a script may import a CSS file. The script gets no value from the import, because esbuild
 * bundles the imported style sheets.
 */
declare module '*.css';
