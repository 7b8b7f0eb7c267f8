import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Node loads the CommonJS build of graphql for everything in node_modules; Vite would add the other one.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/**/*.test.ts'],
    // Limits for a machine that is ten times as busy: a test waits for a condition and ends as soon as it holds.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000, interval: 50 } },
    maxWorkers: 2,
    globalSetup: 'test/support/build.ts',
    // `npm run coverage`: a report to read, without a threshold to reach.
    coverage: {
      include: ['src/**', 'schema/**', 'rest/**', 'cli/**', 'contract/**'],
      exclude: ['**/generated/**'],
      reporter: ['text', 'html'],
      reportOnFailure: true,
    },
  },
});
