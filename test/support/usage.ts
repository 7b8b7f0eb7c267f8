import { newId } from '../../src/ids.ts';
import type { Usage } from '../../src/usage/recorder.ts';

/** Returns the usage record of a request to `GET /health`, with the given values. */
export const newUsage = (usage: Partial<Usage> = {}): Usage => ({
  apiKeyId: newId(),
  requestId: newId(),
  surface: 'rest',
  operation: 'GET /health',
  status: 200,
  errorCode: null,
  durationMs: 1,
  address: 'test',
  createdAt: new Date(),
  ...usage,
});
