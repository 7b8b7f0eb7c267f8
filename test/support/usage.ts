import { newId } from '../../src/ids.ts';
import type { Usage } from '../../src/usage/recorder.ts';

/** Returns a usage record of a request to `GET /health`, in which the given values replace the default values. */
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
