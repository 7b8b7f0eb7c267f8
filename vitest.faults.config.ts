import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

// The configuration of the fault suite. The suite starts its own servers and gateways, and causes one fault after the
// other.
export default defineConfig({ ...base, test: { ...base.test, include: ['test/faults/*.fault.ts'] } });
