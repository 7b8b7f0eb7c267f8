import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

// The configuration of the soak test, which runs for a long time (docs/faults.md, "The soak"). The soak test does not
// run automatically: a person starts the test and reads its results.
export default defineConfig({ ...base, test: { ...base.test, include: ['test/faults/*.soak.ts'] } });
