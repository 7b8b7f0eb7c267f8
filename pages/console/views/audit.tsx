/** @jsxImportSource react */
import { useState } from 'react';
import { AuditLogDocument, type AuditLogQuery } from '../generated/operations.ts';
import { useView } from '../graph/use-view.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/controls.tsx';
import { DataTable, Pager } from '../ui/data-table.tsx';
import { Panel } from '../ui/panel.tsx';
import { Time } from '../ui/time.tsx';
import { usePages } from '../ui/use-pages.ts';
import { ViewHeader } from '../ui/view-header.tsx';
import { ViewState } from '../ui/view-state.tsx';

const { audit: words } = texts;

type AuditRecord = NonNullable<AuditLogQuery['auditLog']>['nodes'][number];
type Values = Record<string, unknown>;

const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const shown = (value: unknown) =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/**
 * Returns each field of an object in an audit record, with the value before the change and the value after the change.
 * If the change created the object, the text for each value before the change is empty.
 */
function comparison(changes: unknown): { field: string; before: string; after: string; differs: boolean }[] {
  if (!isValues(changes)) return [];
  const isPair = isValues(changes.before) || isValues(changes.after);
  const before = isPair && isValues(changes.before) ? changes.before : {};
  const after = isPair ? (isValues(changes.after) ? changes.after : {}) : changes;
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].map((field) => {
    const values = { before: shown(before[field]), after: shown(after[field]) };
    return { field, ...values, differs: values.before !== values.after };
  });
}

function Changes({ record, onClose }: { record: AuditRecord; onClose(): void }) {
  const rows = comparison(record.changes);
  return (
    <Panel title={record.action} onClose={onClose} wide>
      <p className="quiet">
        <Time at={record.createdAt} /> · {words.request} <code>{record.requestId}</code>
      </p>
      {rows.length === 0 ? (
        <p className="empty">{words.hidden}</p>
      ) : (
        <DataTable
          label={words.changes}
          rows={rows}
          keyOf={({ field }) => field}
          columns={[
            {
              title: words.field,
              cell: ({ field, differs }) => (differs ? <strong>{field}</strong> : field),
            },
            { title: words.before, cell: ({ before }) => <span className="wrap">{before}</span> },
            { title: words.after, cell: ({ after }) => <span className="wrap">{after}</span> },
          ]}
        />
      )}
    </Panel>
  );
}

/** The view of the audit log, which lists all changes, newest first, with the API key that made each change. */
export function AuditView() {
  const pages = usePages();
  const view = useView(AuditLogDocument, { after: pages.after });
  const [opened, setOpened] = useState<AuditRecord>();
  return (
    <>
      <ViewHeader title={words.title} operation={view.operation} />
      <ViewState view={view} isEmpty={({ auditLog }) => auditLog?.nodes.length === 0} empty={words.empty}>
        {({ auditLog }) => (
          <section className="card">
            <DataTable
              label={words.title}
              rows={auditLog?.nodes ?? []}
              keyOf={({ id }) => id}
              columns={[
                { title: words.time, cell: ({ createdAt }) => <Time at={createdAt} /> },
                { title: words.action, cell: ({ action }) => <code>{action}</code> },
                { title: words.target, cell: ({ targetId }) => <code>{targetId}</code> },
                { title: words.key, cell: ({ apiKeyId }) => <code>{apiKeyId ?? '–'}</code> },
                {
                  title: words.changes,
                  cell: (record) => (
                    <Button
                      look="quiet"
                      aria-label={`${words.changes} ${record.action} ${record.targetId}`}
                      onPress={() => setOpened(record)}
                    >
                      {words.changes}
                    </Button>
                  ),
                },
              ]}
            />
            <Pager {...pages.steps(auditLog?.pageInfo)} />
          </section>
        )}
      </ViewState>
      {opened && <Changes record={opened} onClose={() => setOpened(undefined)} />}
    </>
  );
}
