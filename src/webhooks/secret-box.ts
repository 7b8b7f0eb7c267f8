import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { derivedKey } from '../auth/derived-key.ts';

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/**
 * The error message for a webhook secret that the gateway cannot decrypt. The owner of the webhook can read this error
 * message.
 */
const otherPepper =
  'The secret of the webhook was encrypted with another KEY_PEPPER; rotate the secret without a grace period';

/**
 * Encrypts the signing secrets of webhooks for the database. A hash of the secret would not be sufficient, because the
 * gateway needs the plain secret to sign webhook messages. An encrypted secret can be decrypted only with the id of its
 * own webhook.
 */
export interface WebhookSecretBox {
  seal(webhookId: string, secret: string): string;
  /**
   * Decrypts the signing secret of a webhook.
   *
   * @throws when the secret was encrypted with another pepper or for another webhook
   */
  open(webhookId: string, sealed: string): string;
}

/**
 * Creates the functions that encrypt and decrypt webhook secrets. The encryption uses AES-256-GCM with a key that is
 * derived from the pepper of the API keys.
 */
export function createWebhookSecretBox(pepper: string): WebhookSecretBox {
  const key = derivedKey(pepper, 'webhook-secrets');
  return {
    seal(webhookId, secret) {
      const iv = randomBytes(ivBytes);
      const encryption = createCipheriv(cipher, key, iv).setAAD(Buffer.from(webhookId));
      const text = Buffer.concat([encryption.update(secret), encryption.final()]);
      return Buffer.concat([iv, encryption.getAuthTag(), text]).toString('base64');
    },
    open(webhookId, sealed) {
      const bytes = Buffer.from(sealed, 'base64');
      const decryption = createDecipheriv(cipher, key, bytes.subarray(0, ivBytes))
        .setAAD(Buffer.from(webhookId))
        .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
      const text = decryption.update(bytes.subarray(ivBytes + tagBytes), undefined, 'utf8');
      try {
        return text + decryption.final('utf8');
      } catch (cause) {
        throw new Error(otherPepper, { cause });
      }
    },
  };
}
