/** @jsxImportSource react */
import { type KeyFieldsFragment, KeysDocument, RevokeKeyDocument } from '../generated/operations.ts';
import { useChange } from '../graph/use-change.ts';
import { useView } from '../graph/use-view.ts';
import { texts } from '../texts.ts';
import { Badge, Button } from '../ui/controls.tsx';
import { DataTable, Pager } from '../ui/data-table.tsx';
import { Confirmation } from '../ui/panel.tsx';
import { Time } from '../ui/time.tsx';
import { useDialog } from '../ui/use-dialog.ts';
import { usePages } from '../ui/use-pages.ts';
import { ViewHeader } from '../ui/view-header.tsx';
import { FailureNotice, ViewState } from '../ui/view-state.tsx';
import { KeyEditor } from './key-editor.tsx';
import { KeyRotation } from './key-rotation.tsx';

const { keys: words } = texts;

/** The dialog that is open, and the API key that the user edits, rotates or revokes in this dialog. */
type KeyDialog =
  | { kind: 'edit'; edited: KeyFieldsFragment | undefined }
  | { kind: 'rotate' | 'revoke'; edited: KeyFieldsFragment };

function KeyState({ of: { revokedAt, expiresAt } }: { of: KeyFieldsFragment }) {
  if (revokedAt) return <Badge tone="bad">{words.revoked}</Badge>;
  if (expiresAt && Date.parse(expiresAt) <= Date.now()) return <Badge tone="quiet">{words.expired}</Badge>;
  return <Badge tone="good">{words.active}</Badge>;
}

function Revocation({
  revoked,
  onChanged,
  onClose,
}: {
  revoked: KeyFieldsFragment;
  onChanged(): void;
  onClose(): void;
}) {
  const revoking = useChange(RevokeKeyDocument, { onUncertain: onChanged });
  async function revoke() {
    if (!(await revoking.send({ id: revoked.id }))) return;
    onChanged();
    onClose();
  }
  return (
    <Confirmation
      question={words.revokeAsk(revoked.name)}
      action={words.revoke}
      sending={revoking.sending}
      onConfirm={() => void revoke()}
      onClose={onClose}
    >
      <FailureNotice failure={revoking.failure} isChange />
    </Confirmation>
  );
}

/**
 * The console view with the API keys that the user's own API key may manage. The view has buttons to issue, change,
 * rotate and revoke API keys.
 */
export function KeysView() {
  const pages = usePages();
  const view = useView(KeysDocument, { after: pages.after });
  const { dialog, open, close } = useDialog<KeyDialog>();
  const action = (kind: KeyDialog['kind'], edited: KeyFieldsFragment) => (
    <Button
      look="quiet"
      aria-label={`${words[kind === 'edit' ? 'change' : kind]} ${edited.name}`}
      onPress={() => open({ kind, edited })}
    >
      {words[kind === 'edit' ? 'change' : kind]}
    </Button>
  );
  return (
    <>
      <ViewHeader title={words.title} operation={view.operation}>
        <Button look="primary" onPress={() => open({ kind: 'edit', edited: undefined })}>
          {words.issue}
        </Button>
      </ViewHeader>
      <ViewState view={view} isEmpty={({ apiKeys }) => apiKeys?.nodes.length === 0} empty={words.empty}>
        {({ apiKeys }) => (
          <section className="card">
            <DataTable
              label={words.title}
              rows={apiKeys?.nodes ?? []}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: words.name,
                  cell: ({ name, hint, unrestricted }) => (
                    <>
                      {name} <code>{hint}</code> {unrestricted && <Badge tone="warn">{words.operator}</Badge>}
                    </>
                  ),
                },
                { title: words.state, cell: (each) => <KeyState of={each} /> },
                { title: words.permissions, cell: ({ permissions }) => permissions.length, numeric: true },
                { title: words.lastUsed, cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
                {
                  title: words.actions,
                  cell: (each) =>
                    each.revokedAt ? null : (
                      <>
                        {action('edit', each)}
                        {action('rotate', each)}
                        {action('revoke', each)}
                      </>
                    ),
                },
              ]}
            />
            <Pager {...pages.steps(apiKeys?.pageInfo)} />
          </section>
        )}
      </ViewState>
      {dialog?.kind === 'edit' && (
        <KeyEditor edited={dialog.edited} onChanged={view.reload} onClose={close} />
      )}
      {dialog?.kind === 'rotate' && (
        <KeyRotation rotated={dialog.edited} onChanged={view.reload} onClose={close} />
      )}
      {dialog?.kind === 'revoke' && (
        <Revocation revoked={dialog.edited} onChanged={view.reload} onClose={close} />
      )}
    </>
  );
}
