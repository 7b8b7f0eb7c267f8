import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Node loads the CommonJS build of graphql for everything in node_modules; Vite would add the other one.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
