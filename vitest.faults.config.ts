import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

// The configuration of the fault tests. Each fault test starts its own servers and gateways, and then causes a fault,
// such as a lost database connection. At most two test files run at the same time, because each test file starts
// several servers and gateways.
export default defineConfig({
  ...base,
  test: { ...base.test, include: ['test/faults/*.fault.ts'], maxWorkers: 2 },
});
