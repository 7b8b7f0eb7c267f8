import type { ClaimedDelivery } from './outbox.ts';
import { messageBody } from './payload.ts';
import type { WebhookSecretBox } from './secret-box.ts';
import { signedHeaders } from './signature.ts';

/** A webhook message with its signature, in the form that the receiver gets. */
export interface SignedMessage {
  headers: Record<string, string>;
  /**
   * The body of the webhook message as JSON text. The signature of the message is valid only for exactly this JSON
   * text, and not for another JSON text with the same data.
   */
  body: string;
}

/**
 * Creates the signed message for a delivery on which a worker or a client has a lease. The signed message is the same
 * for push delivery and for pull delivery.
 *
 * @throws when the secret of the webhook was encrypted with a pepper other than the pepper of this gateway
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
