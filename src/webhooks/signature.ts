import { createHmac, randomBytes } from 'node:crypto';

/**
 * The prefix of every signing secret (Standard Webhooks, "Signature scheme"). After the prefix `whsec_`, a signing
 * secret contains the signing key in base64.
 */
const secretPrefix = 'whsec_';
const secretBytes = 32;

/**
 * Creates the signing secret of a webhook. The secret consists of `whsec_` and 32 random bytes in base64 (Standard
 * Webhooks, "Signature scheme").
 */
export const newWebhookSecret = () => secretPrefix + randomBytes(secretBytes).toString('base64');

/**
 * Creates the headers of a signed webhook message (Standard Webhooks, "Webhook headers"), with one signature for each
 * secret.
 *
 * @param message.id the id of the webhook message, which is the same for every delivery attempt
 * @param at the time of the delivery attempt; receivers reject a webhook message whose time differs from their own
 *   clock by some minutes
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
