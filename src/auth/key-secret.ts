import { createHmac, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Environment } from '../../prisma/generated/client/enums.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const bodyLength = 43; // The number of base62 characters that encode 32 random bytes.
const checksumLength = 6; // The number of base62 characters that encode a 32-bit checksum.
const form = /^pms_(?:live|test)_[0-9A-Za-z]{49}$/;

function base62(value: bigint, length: number): string {
  let digits = '';
  for (let rest = value; digits.length < length; rest /= 62n) digits = alphabet[Number(rest % 62n)] + digits;
  return digits;
}

const checksum = (text: string) => base62(BigInt(crc32(text)), checksumLength);

/**
 * Creates a secret. A secret consists of a prefix, 32 random bytes in base62, and the CRC32 of the preceding characters
 * in base62. The prefix is `pms_live_` in production and `pms_test_` elsewhere. The gateway shows a secret only once,
 * and stores only the hash of the secret.
 */
export function newSecret(environment: Environment): string {
  const prefix = environment === 'production' ? 'pms_live_' : 'pms_test_';
  const unsigned = prefix + base62(BigInt(`0x${randomBytes(32).toString('hex')}`), bodyLength);
  return unsigned + checksum(unsigned);
}

/**
 * Whether a text has the form of a secret, and contains a correct checksum. With the checksum, the gateway detects a
 * mistyped secret without reading the database.
 */
export function isWellFormedSecret(secret: string): boolean {
  return form.test(secret) && checksum(secret.slice(0, -checksumLength)) === secret.slice(-checksumLength);
}

/**
 * Returns the hash of a secret: an HMAC-SHA256 with the pepper, in base64url. The database stores the hash of a secret
 * instead of the secret.
 */
export function hashSecret(secret: string, pepper: string): string {
  return createHmac('sha256', pepper).update(secret).digest('base64url');
}

/** Returns the last four characters of a secret, so that users can recognise their API key. */
export function secretHint(secret: string): string {
  return `…${secret.slice(-4)}`;
}

/**
 * Whether a secret is easy to guess. A secret is easy to guess if it has few different characters, repeats a short
 * text, or comes from the documentation.
 */
export const isEasyToGuess = (secret: string) =>
  new Set(secret).size < 10 ||
  /^(.{1,16})\1+.{0,15}$/.test(secret) ||
  /change.?me|example|password|operator|0123456789|1234567890/i.test(secret);
