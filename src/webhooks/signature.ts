import { createHmac, randomBytes } from 'node:crypto';

/**
 * The prefix of a secret (Standard Webhooks, "Signature scheme"). The rest of the secret is the signing key in base64.
 */
const secretPrefix = 'whsec_';
const secretBytes = 32;

/** Creates a secret for a webhook (Standard Webhooks, "Signature scheme"): `whsec_` and 32 random bytes in base64. */
export const newWebhookSecret = () => secretPrefix + randomBytes(secretBytes).toString('base64');

/**
 * Creates the headers of a signed message (Standard Webhooks, "Webhook headers"), with one signature for each secret.
 *
 * @param message.id the same for every attempt
 * @param at the time of the attempt; a receiver rejects a message whose time differs from its own clock by some minutes
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
