/** @jsxImportSource react */
import { useState } from 'react';
import { texts } from '../texts.ts';
import { Button } from './controls.tsx';

/** Shows a new secret with a copy button. The gateway returns each secret only once. */
export function Secret({ secret }: { secret: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () =>
    setCopied(
      await navigator.clipboard.writeText(secret).then(
        () => true,
        () => false,
      ),
    );
  return (
    <div className="form">
      <p>{texts.keys.secret}</p>
      <div className="secret">
        <code>{secret}</code>
        <Button onPress={() => void copy()}>{copied ? texts.state.copied : texts.state.copy}</Button>
      </div>
    </div>
  );
}
