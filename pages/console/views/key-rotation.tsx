/** @jsxImportSource react */
import { useState } from 'react';
import { type KeyFieldsFragment, RotateKeyDocument } from '../generated/operations.ts';
import { fieldMessages } from '../graph/failure.ts';
import { useChange } from '../graph/use-change.ts';
import { texts } from '../texts.ts';
import { Button, Field } from '../ui/controls.tsx';
import { SecretPanel } from '../ui/secret.tsx';
import { FailureNotice } from '../ui/view-state.tsx';

const { keys: words } = texts;

/**
 * A dialog that issues a new secret for an API key and shows the secret once.
 *
 * @param props.onChanged a function that reads the list of API keys again
 */
export function KeyRotation(props: { rotated: KeyFieldsFragment; onChanged(): void; onClose(): void }) {
  const { rotated, onChanged, onClose } = props;
  const [hours, setHours] = useState('24');
  const [secret, setSecret] = useState<string>();
  const rotating = useChange(RotateKeyDocument, { onUncertain: onChanged });
  async function rotate() {
    const data = await rotating.send({ id: rotated.id, graceSeconds: Math.round(Number(hours) * 3600) });
    if (!data) return;
    setSecret(data.rotateApiKey?.secret);
    onChanged();
  }
  return (
    <SecretPanel
      title={`${words.rotate} ${rotated.name}`}
      secret={secret}
      isSending={rotating.sending}
      onClose={onClose}
    >
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          void rotate();
        }}
      >
        <p>{words.rotateAbout}</p>
        <FailureNotice failure={rotating.failure} isChange />
        <Field
          label={words.grace}
          type="number"
          value={hours}
          onChange={setHours}
          error={fieldMessages(rotating.failure).graceSeconds}
          required
        />
        <footer className="dialog-footer">
          <Button look="primary" type="submit" isDisabled={rotating.sending || hours === ''}>
            {words.rotate}
          </Button>
        </footer>
      </form>
    </SecretPanel>
  );
}
