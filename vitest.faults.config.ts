import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

// The configuration of the fault tests. The fault tests start their own servers and gateways. The tests then cause one
// fault after the other, such as a lost database connection. At most two files run at the same time, because each file
// starts several servers and gateways.
export default defineConfig({
  ...base,
  test: { ...base.test, include: ['test/faults/*.fault.ts'], maxWorkers: 2 },
});
