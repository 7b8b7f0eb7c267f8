import { auditActions, isAuditAction } from '../src/audit/actions.ts';
import { messageRule, type MessageType, messageTypes } from '../src/webhooks/payload.ts';
import { type Components, type JsonSchema, reference, ruleSchema } from './json-schema.ts';
import { json } from './openapi-responses.ts';

/** The name that the API reference shows for the group of all webhook messages. */
export const webhookTag = 'Webhooks';

/** The text that describes webhook messages in the API reference. */
export const webhooksAbout =
  'Messages that the gateway posts to a webhook of a company. The GraphQL mutation `createWebhook` creates a webhook. Messages follow ' +
  'Standard Webhooks: verify `webhook-signature` with the secret of the webhook, and ignore a `webhook-id` that was ' +
  'handled before. Delivery is repeated until the receiver answers with 2xx.';

const header = (name: string, description: string, type: 'string' | 'integer' = 'string') => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type },
});

/**
 * The headers that every webhook message has, as the specification Standard Webhooks defines them ("Webhook Headers").
 */
const messageHeaders = [
  header(
    'webhook-id',
    'Identifier of the message. Every attempt to deliver the message has the same identifier.',
  ),
  header('webhook-timestamp', 'When the message was sent, as a Unix timestamp in seconds.', 'integer'),
  header(
    'webhook-signature',
    'One or more signatures, separated by spaces: `v1,…`. Each signature covers the identifier, the timestamp and the body.',
  ),
];

/**
 * Converts the type of a webhook message to a name in which each word starts with a capital letter: `location.created`
 * → `LocationCreated`
 */
const pascalCase = (type: string) =>
  type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Returns a sentence that describes the event that a webhook message reports. */
const messageDescription = (type: MessageType) =>
  isAuditAction(type)
    ? auditActions[type].description
    : 'A test message, which the GraphQL mutation `testWebhook` sends.';

/**
 * Returns the member `webhooks` of the OpenAPI document, which describes each type of webhook message and the JSON
 * Schema of its body.
 *
 * @param schemas the object to which this function adds the JSON Schema of each message body. Each property name of the
 *   object `schemas` is the name of a JSON Schema
 */
export function describeWebhooks(schemas: Components): Record<string, Record<string, JsonSchema>> {
  return Object.fromEntries(
    messageTypes.map((type) => {
      const name = `${pascalCase(type)}Message`;
      schemas[name] = { description: messageDescription(type), ...ruleSchema(messageRule(type)) };
      const post = {
        operationId: `receive${pascalCase(type)}`,
        summary: `Receive ${type}`,
        description: messageDescription(type),
        tags: [webhookTag],
        security: [],
        parameters: messageHeaders,
        requestBody: { required: true, content: json({ schema: reference('schemas', name) }) },
        responses: {
          '2XX': {
            description:
              'The receiver has accepted the message. The gateway does not send this message to this receiver again.',
          },
          '410': {
            description:
              'The receiver wants no more messages of this webhook, so the gateway disables the webhook.',
          },
        },
      };
      return [type, { post }];
    }),
  );
}
