/** esbuild bundles the style sheets that a page imports. The import statement for a style sheet has no value. */
declare module '*.css';
