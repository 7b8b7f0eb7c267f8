/** @jsxImportSource react */
import { useState } from 'react';
import { RecoverWebhookDocument } from '../generated/operations.ts';
import { fieldMessages } from '../graph/failure.ts';
import { useChange } from '../graph/use-change.ts';
import { texts } from '../texts.ts';
import { Button, Field } from '../ui/controls.tsx';
import { Panel } from '../ui/panel.tsx';
import { instantOf, readerZone } from '../ui/time.tsx';
import { FailureNotice } from '../ui/view-state.tsx';

const { webhooks: words } = texts;

/**
 * A form with which the user asks the gateway to send webhook messages again. The user chooses a time range. The
 * gateway sends the webhook messages from the chosen time range again, except the messages that the receiver has
 * accepted.
 */
export function RecoveryForm({ id, onDone, onClose }: { id: string; onDone(): void; onClose(): void }) {
  const [since, setSince] = useState('');
  const [until, setUntil] = useState('');
  const [recovered, setRecovered] = useState<number>();
  const recovering = useChange(RecoverWebhookDocument, { onUncertain: onDone });
  const errors = fieldMessages(recovering.failure);
  async function recover() {
    setRecovered(undefined);
    const data = await recovering.send({
      id,
      since: instantOf(since) ?? '',
      until: instantOf(until) ?? null,
    });
    if (!data?.recoverWebhook) return;
    setRecovered(data.recoverWebhook.deliveries);
    onDone();
  }
  return (
    <Panel title={words.recover} onClose={onClose} isKept={recovering.sending}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          void recover();
        }}
      >
        <FailureNotice failure={recovering.failure} isChange />
        {recovered !== undefined && (
          <p className="notice good" role="status">
            {words.recovered(recovered)}
          </p>
        )}
        <Field
          label={words.since(readerZone)}
          type="datetime-local"
          value={since}
          onChange={setSince}
          error={errors.since}
        />
        <Field
          label={words.until(readerZone)}
          type="datetime-local"
          value={until}
          onChange={setUntil}
          error={errors.until}
        />
        <footer className="dialog-footer">
          <Button look="primary" type="submit" isDisabled={recovering.sending || since === ''}>
            {words.recover}
          </Button>
        </footer>
      </form>
    </Panel>
  );
}
