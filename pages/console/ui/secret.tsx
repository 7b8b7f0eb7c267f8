/** @jsxImportSource react */
import { useState } from 'react';
import { copyText } from '../../browser/copy.ts';
import { texts } from '../texts.ts';
import { Button } from './controls.tsx';

/** Shows a new secret with a copy button. The gateway returns each secret only once. */
export function Secret({ secret }: { secret: string }) {
  const [label, setLabel] = useState<string>(texts.state.copy);
  const copy = async () => setLabel((await copyText(secret)) ? texts.state.copied : texts.state.notCopied);
  return (
    <div className="form">
      <p>{texts.keys.secret}</p>
      <div className="secret">
        <code>{secret}</code>
        <Button onPress={() => void copy()}>{label}</Button>
      </div>
    </div>
  );
}
