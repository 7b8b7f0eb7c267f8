import type { JsonSchema } from '../../rest/json-schema.ts';
import type { OpenApi } from '../../rest/openapi.ts';
import { webhooksAbout } from '../../rest/openapi-webhooks.ts';
import { Json } from './code.tsx';
import { Prose } from './markdown.tsx';
import { type Entry, FieldTable, type Section, typeInWords } from './parts.tsx';
import { bodySchema, type Resolve, sampleOf } from './sample.ts';

interface WebhookOperation {
  description: string;
  parameters: { name: string; description: string; schema: JsonSchema }[];
  requestBody: unknown;
}

/**
 * Returns the section of the API reference about webhook messages. The section describes first the headers that all
 * webhook messages have, and then the body of each type of message.
 */
export function webhookSection({ webhooks }: OpenApi, resolve: Resolve): Section {
  const operations = Object.entries(webhooks).map(
    ([type, { post }]) => [type, post as unknown as WebhookOperation] as const,
  );
  const [, first] = operations[0]!;
  return {
    id: 'webhooks',
    title: 'Messages',
    about: webhooksAbout,
    entries: [
      {
        id: 'webhook-headers',
        title: 'Headers',
        search: 'webhook headers webhook-id webhook-timestamp webhook-signature standard webhooks',
        content: (
          <div class="rest">
            <h3>Headers of every message</h3>
            <FieldTable
              title="Headers"
              rows={first.parameters.map(({ name, description, schema }) => ({
                name,
                type: typeInWords(schema),
                description,
              }))}
            />
          </div>
        ),
      },
      ...operations.map(([type, operation]) => messageEntry(type, operation, resolve)),
    ],
  };
}

function messageEntry(type: string, { description, requestBody }: WebhookOperation, resolve: Resolve): Entry {
  const schema = bodySchema(requestBody);
  const { data } = resolve(schema).properties as { data: { properties: { changes: JsonSchema } } };
  return {
    id: `webhook-${type}`,
    title: type,
    search: `webhook ${type} ${description}`.toLowerCase(),
    content: (
      <>
        <div class="rest">
          <h3>
            <span class="method">POST</span> <code>{type}</code>
          </h3>
          <Prose text={description} />
          {alternativesOf(data.properties.changes).map((changes) => (
            <FieldTable
              title={changes.title}
              rows={Object.entries(changes.properties).map(([name, property]) => ({
                name,
                type: typeInWords(property),
                description: property.description as string | undefined,
              }))}
            />
          ))}
        </div>
        <aside class="graph">
          <h4>Body</h4>
          <Json value={sampleOf(schema, resolve)} label={`Body of ${type}`} />
        </aside>
      </>
    ),
  };
}

interface Changes {
  title: string;
  properties: Record<string, JsonSchema>;
}

/**
 * Returns an array with one object, which contains the properties of `data.changes` in a webhook message. The array is
 * empty if `data.changes` has no properties. When an object was created or removed, `data.changes` contains the
 * object's values. When an object was changed, `data.changes` contains the object's values before and after the change.
 */
function alternativesOf(changes: JsonSchema): Changes[] {
  const [schema] = (changes.anyOf as JsonSchema[] | undefined) ?? [changes];
  const properties = (schema!.properties ?? {}) as Record<string, JsonSchema>;
  const before = properties.before?.properties as Record<string, JsonSchema> | undefined;
  if (before) return [{ title: 'changes.before and changes.after', properties: before }];
  return Object.keys(properties).length > 0 ? [{ title: 'changes', properties }] : [];
}
