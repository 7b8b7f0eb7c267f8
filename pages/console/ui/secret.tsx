/** @jsxImportSource react */
import { type ReactNode, useState } from 'react';
import { copyText } from '../../browser/copy.ts';
import { texts } from '../texts.ts';
import { Button } from './controls.tsx';
import { Panel } from './panel.tsx';

/**
 * A dialog with a form for an API key. When the gateway has created a secret, the dialog shows the secret with a copy
 * button instead of the form. The gateway returns each secret only once. The user must therefore not close the dialog
 * by mistake before copying the secret. While the form is being sent, or while the secret is not yet copied, the user
 * can close the dialog only with a button. After the user has copied the secret, the Escape key or a click beside the
 * dialog also closes the dialog.
 *
 * @param props.secret the new secret, or `undefined` before the gateway has created it
 * @param props.isSending whether the form is being sent
 */
export function SecretPanel(props: {
  title: string;
  secret: string | undefined;
  isSending: boolean;
  onClose(): void;
  children: ReactNode;
}) {
  const { title, secret, isSending, onClose, children } = props;
  const [isCopied, setCopied] = useState<boolean>();
  const { copy, copied, notCopied } = texts.state;
  if (!secret) {
    return (
      <Panel title={title} onClose={onClose} isKept={isSending}>
        {children}
      </Panel>
    );
  }
  return (
    <Panel title={title} onClose={onClose} isKept={!isCopied}>
      <div className="form">
        <p>{texts.keys.secret}</p>
        <div className="secret">
          <code>{secret}</code>
          <Button onPress={() => void copyText(secret).then(setCopied)}>
            {isCopied === undefined ? copy : isCopied ? copied : notCopied}
          </Button>
        </div>
      </div>
      <footer className="dialog-footer">
        <Button look="primary" onPress={onClose}>
          {texts.keys.done}
        </Button>
      </footer>
    </Panel>
  );
}
