import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

// The configuration of the soak test, a long run that a person starts and whose results a person reads: docs/faults.md,
// "The soak".
export default defineConfig({ ...base, test: { ...base.test, include: ['test/faults/*.soak.ts'] } });
