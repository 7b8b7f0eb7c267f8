import { hkdfSync } from 'node:crypto';

/**
 * The purpose for which a derived cryptographic key is used. A derived key for one purpose reveals nothing about the
 * derived keys for other purposes.
 */
type Purpose = 'whitelist-feed-cursors' | 'webhook-secrets';

/**
 * Derives a key of 32 bytes from the pepper of the API keys (HKDF with SHA-256, RFC 5869). Gateway processes that have
 * the same pepper derive the same key, so the gateway does not need to store the derived key.
 */
export const derivedKey = (pepper: string, purpose: Purpose): Buffer =>
  Buffer.from(hkdfSync('sha256', pepper, '', purpose, 32));
