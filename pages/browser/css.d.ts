/** esbuild bundles the style sheets that a page imports. The import has no value. */
declare module '*.css';
