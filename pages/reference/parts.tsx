import type { Child } from 'hono/jsx';
import type { JsonSchema } from '../../rest/json-schema.ts';
import { explorerLink, type ExampleOperation } from './graph-operation.ts';
import { Code, Json } from './code.tsx';
import { Inline } from './markdown.tsx';
import { patternInWords } from './patterns.ts';
import { graphPrograms, ProgramList } from './programs.tsx';

/** An entry of the API reference, such as an endpoint, with the texts that the search and the navigation use. */
export interface Entry {
  id: string;
  title: string;
  /**
   * The search text of this entry, in lower case. The search of the API reference looks for the user's words in
   * this text.
   */
  search: string;
  content: Child;
}

/** A section of the API reference, which has a heading and several entries. */
export interface Section {
  id: string;
  title: string;
  about?: string | undefined;
  entries: Entry[];
}

/** Shows a GraphQL document and its variables, for example the document that is equivalent to a REST endpoint. */
export const GraphDocument = ({ title, operation }: { title: string; operation: ExampleOperation }) => (
  <aside class="graph">
    <h4>{title}</h4>
    <Code text={operation.query} label="GraphQL document" language="graphql" />
    {Object.keys(operation.variables).length > 0 && (
      <>
        <h4>Variables</h4>
        <Json value={operation.variables} label="Variables" />
      </>
    )}
    <a class="open" href={explorerLink(operation)}>
      Open in the explorer
    </a>
    <details>
      <summary>As a program</summary>
      <ProgramList programs={graphPrograms(operation)} of="Graph request" />
    </details>
  </aside>
);

export interface FieldRow {
  name: string;
  type: string;
  required?: boolean;
  deprecated?: boolean;
  description: string | null | undefined;
}

/** A table of fields, parameters or arguments, with their name, type and description. */
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

/** Returns a short description of a JSON Schema, such as `string, at most 50 characters`. */
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
    typeof pattern === 'string' && patternInWords(pattern),
  ]
    .filter(Boolean)
    .join(', ');
}
