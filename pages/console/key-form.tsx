/** @jsxImportSource react */
import { type FormEvent, useEffect, useState } from 'react';
import { ViewerDocument, type ViewerQuery } from './generated/operations.ts';
import { createGraphClient } from './graph/client.ts';
import { type Failure, failureOf } from './graph/failure.ts';
import { isRemembered } from './graph/key-store.ts';
import { texts } from './texts.ts';
import { Button, Field } from './ui/controls.tsx';
import { FailureNotice } from './ui/view-state.tsx';

/**
 * Asks the user for an API key, and sends a request to check whether the gateway accepts the key.
 *
 * @param props.first the stored API key, which the form checks immediately. If no API key is stored, `first` is an
 *   empty text
 * @param props.refusal the error message with which the gateway rejected the last API key
 */
export function KeyForm(props: {
  first: string;
  refusal: string | undefined;
  onOpen(secret: string, viewer: NonNullable<ViewerQuery['viewer']>, remember: boolean): void;
}) {
  const { first, refusal, onOpen } = props;
  const [secret, setSecret] = useState(first);
  const [remember, setRemember] = useState(() => isRemembered(first));
  const [opening, setOpening] = useState(Boolean(first));
  const [failure, setFailure] = useState<Failure | undefined>(
    refusal === undefined ? undefined : { kind: 'key-refused', message: refusal },
  );
  const [missing, setMissing] = useState(false);

  async function open(key: string) {
    setMissing(key === '');
    if (key === '') return;
    setOpening(true);
    const { data, error } = await createGraphClient(key).client.query(ViewerDocument, {}).toPromise();
    setOpening(false);
    setFailure(error && failureOf(error));
    if (data?.viewer) onOpen(key, data.viewer, remember);
  }

  useEffect(() => {
    document.title = texts.views.pageTitle(texts.views.console);
    if (first) void open(first);
    // The list of dependencies of this React effect is empty. The console therefore checks the stored API key only
    // once, when the console opens.
  }, []);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    void open(secret.trim());
  };
  const { key } = texts;
  return (
    <main id="content" className="key-form" tabIndex={-1}>
      <form onSubmit={submit} className="card">
        <h1>{key.title}</h1>
        <p>{key.about}</p>
        <FailureNotice failure={failure} />
        <Field
          label={key.label}
          type="password"
          name="key"
          value={secret}
          onChange={setSecret}
          error={missing ? key.required : undefined}
          autoFocus
        />
        <p className="hint">{key.hint}</p>
        <label className="check">
          <input type="checkbox" checked={remember} onChange={(event) => setRemember(event.target.checked)} />
          <span>
            {key.remember} <small>{key.forgotten}</small>
          </span>
        </label>
        <Button look="primary" type="submit" isDisabled={opening}>
          {opening ? key.opening : key.open}
        </Button>
      </form>
    </main>
  );
}
