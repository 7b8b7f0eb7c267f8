/** @jsxImportSource react */
import { useState } from 'react';
import { useClient } from 'urql';
import { type QuotaEnforcement, QuotaOfDocument, SetQuotaDocument } from '../generated/operations.ts';
import { fieldMessages } from '../graph/failure.ts';
import { useChange } from '../graph/use-change.ts';
import { useView } from '../graph/use-view.ts';
import { texts } from '../texts.ts';
import { AsGraphql } from '../ui/as-graphql.tsx';
import { Button, Choice, Field } from '../ui/controls.tsx';
import { Panel } from '../ui/panel.tsx';
import { FailureNotice, ViewState } from '../ui/view-state.tsx';

const { whitelist: words } = texts;

/**
 * A form for the quota that all vehicles with the same reference share. A reference is, for example, a flat or a
 * tenant. The form also shows how many vehicles with the reference of this quota are inside the location. The form
 * appears only after the console has received the stored quota. The GraphQL mutation always sets all fields of a quota.
 * When the user saves the form, the form first reads the stored quota. For each field that the user left unchanged, the
 * form sends the stored value in the mutation.
 */
export function QuotaForm(props: {
  locationId: string;
  referenceId: string;
  mayWrite: boolean;
  onClose(): void;
}) {
  const { locationId, referenceId, mayWrite, onClose } = props;
  const client = useClient();
  const view = useView(QuotaOfDocument, { locationId, referenceId });
  const setting = useChange(SetQuotaDocument, { onUncertain: view.reload });
  const [saving, setSaving] = useState(false);
  const quotas = view.data?.quotas;
  const quota = quotas?.nodes[0];
  const [inside, setInside] = useState<string>();
  const [enforcement, setEnforcement] = useState<QuotaEnforcement>();

  async function save() {
    setSaving(true);
    const { data: newest } = await client
      .query(QuotaOfDocument, { locationId, referenceId }, { requestPolicy: 'network-only' })
      .toPromise();
    // This code does not handle a failure of the query that reads the stored quota. The variable `view` contains the
    // result of the same query, so the form already shows the failure of this query.
    if (newest?.quotas) {
      const [stored] = newest.quotas.nodes;
      const text = inside ?? stored?.inside.toString() ?? '';
      const data = await setting.send({
        locationId,
        referenceId,
        inside: text === '' ? null : Number(text),
        enforcement: enforcement ?? stored?.enforcement ?? 'HARD',
      });
      if (data) {
        setInside(undefined);
        setEnforcement(undefined);
        view.reload();
      }
    }
    setSaving(false);
  }

  return (
    <Panel title={`${words.quota} ${referenceId}`} onClose={onClose} isKept={saving}>
      <ViewState view={view}>
        {() => quotas && <p>{quota ? words.quotaUse(quota.used, quota.inside) : words.noQuota}</p>}
      </ViewState>
      <FailureNotice failure={setting.failure} isChange />
      {mayWrite && quotas && (
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault();
            void save();
          }}
        >
          <Field
            label={words.quotaInside}
            type="number"
            value={inside ?? quota?.inside.toString() ?? ''}
            onChange={setInside}
            error={fieldMessages(setting.failure).inside}
          />
          <Choice
            label={words.enforcement}
            value={enforcement ?? quota?.enforcement ?? 'HARD'}
            options={[
              ['HARD', words.enforcements.HARD],
              ['REPORT', words.enforcements.REPORT],
            ]}
            onChange={setEnforcement}
          />
          <footer className="dialog-footer">
            <AsGraphql operation={view.operation} />
            <Button look="primary" type="submit" isDisabled={saving}>
              {words.setQuota}
            </Button>
          </footer>
        </form>
      )}
    </Panel>
  );
}
