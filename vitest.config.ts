import { defineConfig } from 'vitest/config';

export default defineConfig({
  // All imports of graphql use its CommonJS build, because Node loads that build for the packages in node_modules.
  // Without this alias, Vite would load a second copy.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/**/*.test.ts'],
    // The time limits are for a machine that is ten times as busy. A test waits for a condition and ends as soon as the
    // condition is met.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000, interval: 50 } },
    maxWorkers: 2,
    // One process runs many files, because loading the gateway for each file would take a third of the time.
    isolate: false,
    globalSetup: 'test/support/global-setup.ts',
    // `npm run coverage` writes a report for people to read. The coverage has no threshold.
    coverage: {
      include: ['src/**', 'schema/**', 'rest/**', 'cli/**', 'contract/**'],
      exclude: ['**/generated/**'],
      reporter: ['text', 'html'],
      reportOnFailure: true,
    },
  },
});
