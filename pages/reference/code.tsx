import { raw } from 'hono/html';
import { highlight, type Language } from './highlight.ts';

/**
 * A block on a page of the API reference that shows source text, such as JSON or GraphQL. A code block can get the
 * keyboard focus, so that users can scroll the source text with the keyboard.
 */
export const Code = ({
  text,
  label,
  language,
}: {
  text: string;
  label: string;
  language?: Language | undefined;
}) => (
  <div class="code">
    <pre tabindex={0} role="group" aria-label={label}>
      <code>{raw(highlight(text, language))}</code>
    </pre>
  </div>
);

/** A block that shows a value as JSON. */
export const Json = ({ value, label }: { value: unknown; label: string }) => (
  <Code text={JSON.stringify(value, null, 2)} label={label} language="json" />
);
