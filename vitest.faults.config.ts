import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

// The fault suite: it starts servers and gateways of its own, and makes one fault after the other.
export default defineConfig({ ...base, test: { ...base.test, include: ['test/faults/*.fault.ts'] } });
