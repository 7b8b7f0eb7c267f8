import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

// A long run, started by hand, whose results a person reads: docs/faults.md, "The soak".
export default defineConfig({ ...base, test: { ...base.test, include: ['test/faults/*.soak.ts'] } });
