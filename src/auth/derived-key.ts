import { hkdfSync } from 'node:crypto';

/** What a derived key is for. Keys for different purposes are independent of each other. */
type Purpose = 'whitelist-feed-cursors' | 'webhook-secrets';

/**
 * Derives a key of 32 bytes from the pepper of the API keys (HKDF with SHA-256, RFC 5869). All gateways with the same
 * pepper derive the same key, so the gateway stores no further secret.
 */
export const derivedKey = (pepper: string, purpose: Purpose): Buffer =>
  Buffer.from(hkdfSync('sha256', pepper, '', purpose, 32));
