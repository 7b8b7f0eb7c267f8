/** @jsxImportSource react */
import { useEffect, useState } from 'react';
import type { KeyField } from './key-field.ts';

/**
 * Instructions for a new user of the explorer. The instructions are shown until the gateway has accepted an API key.
 */
export function FirstSteps({ keyField }: { keyField: KeyField }) {
  const [needsKey, setNeedsKey] = useState(() => keyField.current() === '');
  useEffect(() => {
    keyField.onChange((state) => setNeedsKey(state.kind !== 'valid'));
  }, [keyField]);
  if (!needsKey) return null;
  return (
    <section className="first-steps" aria-labelledby="first-steps">
      <h2 id="first-steps">Two steps to the first answer</h2>
      <ol>
        <li>
          <label htmlFor="key">Enter an API key</label> in the field at the top. A new gateway prints two keys
          at its first start; without a terminal it writes them to <code>data/first-keys.txt</code>. In
          production, <code>npm run keys:bootstrap</code> prints the first key. For any other gateway, ask its
          operator.
        </li>
        <li>
          <strong>Run the operation</strong> with the round button beside it, or with Ctrl and Enter. The tabs
          hold more examples; the explorer fills in a location that the key can access.
        </li>
      </ol>
    </section>
  );
}
