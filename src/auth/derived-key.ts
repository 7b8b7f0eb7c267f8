import { hkdfSync } from 'node:crypto';

/** The purpose of a derived key. The key of one purpose does not reveal the key of another purpose. */
type Purpose = 'whitelist-feed-cursors' | 'webhook-secrets';

/**
 * Derives a key of 32 bytes from the pepper of the API keys (HKDF with SHA-256, RFC 5869). All gateways with the same
 * pepper derive the same key, so the gateway stores no further secret.
 */
export const derivedKey = (pepper: string, purpose: Purpose): Buffer =>
  Buffer.from(hkdfSync('sha256', pepper, '', purpose, 32));
