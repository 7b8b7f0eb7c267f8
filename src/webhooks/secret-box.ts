import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

const prefix = 'whsec_';
const cipher = 'aes-256-gcm';
const ivLength = 12;
const tagLength = 16;

/** A new secret of a webhook (Standard Webhooks, "Signature scheme"): `whsec_` and 32 random bytes in base64. */
export const newWebhookSecret = () => prefix + randomBytes(32).toString('base64');

/** Keeps the secrets of webhooks, which signing needs in the clear: encrypted, each for its webhook alone. */
export interface WebhookSecretBox {
  seal(webhookId: string, secret: string): string;
  /** @throws when the secret was sealed with another pepper or for another webhook */
  open(webhookId: string, sealed: string): string;
}

/** Encrypts with AES-256-GCM under a key derived from the pepper of API keys (HKDF, RFC 5869). */
export function createWebhookSecretBox(pepper: string): WebhookSecretBox {
  const key = Buffer.from(hkdfSync('sha256', pepper, '', 'webhook-secrets', 32));
  return {
    seal(webhookId, secret) {
      const iv = randomBytes(ivLength);
      const encryption = createCipheriv(cipher, key, iv).setAAD(Buffer.from(webhookId));
      const text = Buffer.concat([encryption.update(secret), encryption.final()]);
      return Buffer.concat([iv, encryption.getAuthTag(), text]).toString('base64');
    },
    open(webhookId, sealed) {
      const bytes = Buffer.from(sealed, 'base64');
      const decryption = createDecipheriv(cipher, key, bytes.subarray(0, ivLength))
        .setAAD(Buffer.from(webhookId))
        .setAuthTag(bytes.subarray(ivLength, ivLength + tagLength));
      return (
        decryption.update(bytes.subarray(ivLength + tagLength), undefined, 'utf8') + decryption.final('utf8')
      );
    },
  };
}

/**
 * The headers of a signed message (Standard Webhooks, "Webhook headers"), with a signature by each secret.
 *
 * @param id of the message, the same for every attempt
 */
export function signedHeaders(
  message: { id: string; body: string },
  secrets: readonly string[],
  at: Date,
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    const content = `${message.id}.${timestamp}.${message.body}`;
    return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
  });
  return {
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
