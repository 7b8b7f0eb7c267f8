import type { ClaimedDelivery } from './outbox.ts';
import { messageBody } from './payload.ts';
import type { WebhookSecretBox } from './secret-box.ts';
import { signedHeaders } from './signature.ts';

/** A message with its signature, as the receiver gets the message. */
export interface SignedMessage {
  headers: Record<string, string>;
  /**
   * The body of the message as JSON text. The signature of the message is valid only for this exact JSON text, not for
   * other JSON text with the same data.
   */
  body: string;
}

/**
 * Creates the signed message for a claimed delivery. Push delivery and pull delivery use identical messages.
 *
 * @throws when the secret of the webhook was encrypted with another pepper
 */
export function signedMessage(delivery: ClaimedDelivery, secrets: WebhookSecretBox): SignedMessage {
  const { id, webhookId, secret, formerSecret, claimedAt } = delivery;
  const sealed = [secret, ...(formerSecret ? [formerSecret] : [])];
  const signing = sealed.map((each) => secrets.open(webhookId, each));
  const body = messageBody(delivery);
  return {
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'parking-gateway',
      ...signedHeaders({ id, body }, signing, claimedAt),
    },
    body,
  };
}
