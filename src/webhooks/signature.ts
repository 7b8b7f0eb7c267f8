import { createHmac, randomBytes } from 'node:crypto';

/** What a secret begins with (Standard Webhooks, "Signature scheme"); the rest is the key in base64. */
const secretPrefix = 'whsec_';
const secretBytes = 32;

/** A new secret of a webhook (Standard Webhooks, "Signature scheme"): `whsec_` and 32 random bytes in base64. */
export const newWebhookSecret = () => secretPrefix + randomBytes(secretBytes).toString('base64');

/**
 * The headers of a signed message (Standard Webhooks, "Webhook headers"), with a signature by each secret.
 *
 * @param message.id the same for every attempt
 * @param at when the attempt is made; receivers refuse messages that are some minutes away from their own clock
 */
export function signedHeaders(
  message: { id: string; body: string },
  secrets: readonly string[],
  at: Date,
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
    const content = `${message.id}.${timestamp}.${message.body}`;
    return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
  });
  return {
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
