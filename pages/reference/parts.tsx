import type { Child } from 'hono/jsx';
import type { JsonSchema } from '../../rest/json-schema.ts';
import { explorerLink, type ExampleOperation } from './graph-operation.ts';
import { Inline } from './markdown.tsx';

/** An entry of the reference: found by the search, and reached by the navigation. */
export interface Entry {
  id: string;
  title: string;
  /** In lower case, what the search looks in. */
  search: string;
  content: Child;
}

/** A part of the reference with a heading of its own. */
export interface Section {
  id: string;
  title: string;
  about?: string | undefined;
  entries: Entry[];
}

/** A block of text in a fixed-width font. */
export const Code = ({ text, label }: { text: string; label: string }) => (
  <pre tabindex={0} aria-label={label}>
    <code>{text}</code>
  </pre>
);

/** A value as JSON. */
export const Json = ({ value, label }: { value: unknown; label: string }) => (
  <Code text={JSON.stringify(value, null, 2)} label={label} />
);

/** The document of the graph that does the same, with the variables that it takes. */
export const GraphDocument = ({ title, operation }: { title: string; operation: ExampleOperation }) => (
  <aside class="graph">
    <h4>{title}</h4>
    <Code text={operation.query} label="GraphQL document" />
    {Object.keys(operation.variables).length > 0 && (
      <>
        <h4>Variables</h4>
        <Json value={operation.variables} label="Variables" />
      </>
    )}
    <a class="open" href={explorerLink(operation)}>
      Open in the explorer
    </a>
  </aside>
);

export interface FieldRow {
  name: string;
  type: string;
  required?: boolean;
  deprecated?: boolean;
  description: string | null | undefined;
}

/** Fields, parameters or arguments: name and type, then what they mean. */
export const FieldTable = ({ title, rows }: { title: string; rows: readonly FieldRow[] }) =>
  rows.length === 0 ? null : (
    <>
      <h4>{title}</h4>
      <dl class="fields">
        {rows.map(({ name, type, required, deprecated, description }) => (
          <div>
            <dt>
              <code>{name}</code> <span class="type">{type}</span>
              {required && <span class="required">required</span>}
              {deprecated && <span class="deprecated">deprecated</span>}
            </dt>
            <dd>
              <Inline text={description} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  );

/** What JSON Schema says of a value, in a few words: `string, at most 50 characters`. */
export function typeInWords(schema: JsonSchema): string {
  const { type, format, maxLength, minimum, maximum, enum: values, items, pattern, anyOf } = schema;
  if (!type && Array.isArray(anyOf)) return (anyOf as JsonSchema[]).map(typeInWords).join(' or ');
  const names = [type ?? 'any'].flat().join(' or ');
  return [
    Array.isArray(values) ? values.join(' | ') : names,
    items && `of ${typeInWords(items as JsonSchema)}`,
    format,
    maxLength !== undefined && `at most ${maxLength} characters`,
    minimum !== undefined && `${minimum} or more`,
    maximum !== undefined && Number(maximum) < 1_000_000 && `${maximum} or less`,
    typeof pattern === 'string' && pattern.length <= 40 && pattern !== '\\S' && pattern,
  ]
    .filter(Boolean)
    .join(', ');
}
