import { totalmem } from 'node:os';
import { defineConfig } from 'vitest/config';

/**
 * The maximum memory that one test process needs, in bytes. One test process runs many test files, and keeps the
 * embedded databases of all these test files in memory.
 */
const workerBytes = 4 * 1024 ** 3;

export default defineConfig({
  // The npm packages in node_modules load the CommonJS build of the package graphql. With the option `alias`, the
  // tested code also loads the CommonJS build of the package graphql. Without the alias, the tested code would load a
  // second copy of the package graphql.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/**/*.test.ts'],
    // The time limits of the tests are long, because other programs can make the machine ten times slower than usual.
    // The long time limits do not make the tests slower, because a test that passes does not wait until its time limit.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000, interval: 50 } },
    // Up to four test processes run at the same time. Four test processes keep only two processor cores busy, because
    // many tests wait for a timer or for another process.
    maxWorkers: Math.max(1, Math.min(4, Math.floor(totalmem() / workerBytes))),
    // Each test process runs many test files, and loads the gateway's code only once. If each test file loaded the
    // gateway's code again, loading the code would take a third of the test time.
    isolate: false,
    globalSetup: 'test/support/global-setup.ts',
    // `npm run coverage` writes a report of the test coverage for people to read. The project requires no minimum test
    // coverage.
    coverage: {
      include: ['src/**', 'schema/**', 'rest/**', 'cli/**', 'contract/**'],
      exclude: ['**/generated/**'],
      reporter: ['text', 'html'],
      reportOnFailure: true,
    },
  },
});
