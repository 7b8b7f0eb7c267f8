/** @jsxImportSource react */
import { WebhooksDocument } from '../generated/operations.ts';
import { useView } from '../graph/use-view.ts';
import { addressOf } from '../navigation.ts';
import { texts } from '../texts.ts';
import { DataTable, Pager } from '../ui/data-table.tsx';
import { Time } from '../ui/time.tsx';
import { usePages } from '../ui/use-pages.ts';
import { ViewHeader } from '../ui/view-header.tsx';
import { ViewState } from '../ui/view-state.tsx';
import { WebhookDetail } from './webhook-detail.tsx';
import { WebhookState } from './webhook-state.tsx';

const { webhooks: words } = texts;

function WebhookList() {
  const pages = usePages();
  const view = useView(WebhooksDocument, { after: pages.after });
  return (
    <>
      <ViewHeader title={words.title} operation={view.operation} />
      <ViewState view={view} isEmpty={({ webhooks }) => webhooks?.nodes.length === 0} empty={words.empty}>
        {({ webhooks }) => (
          <section className="card">
            <DataTable
              label={words.title}
              rows={webhooks?.nodes ?? []}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: words.receiver,
                  cell: ({ id, url }) => (
                    <a href={addressOf('webhooks', id)}>{url ?? `${words.pull} (${id})`}</a>
                  ),
                },
                { title: words.state, cell: (webhook) => <WebhookState webhook={webhook} /> },
                { title: words.event, cell: ({ events }) => words.events(events.length) },
                { title: words.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
              ]}
            />
            <Pager {...pages.steps(webhooks?.pageInfo)} />
          </section>
        )}
      </ViewState>
    </>
  );
}

/**
 * The view of all webhooks that the API key may manage. If the address of the console page contains an id, only the
 * webhook with that id is shown.
 */
export function WebhooksView({ id }: { id: string | undefined }) {
  return id ? <WebhookDetail key={id} id={id} /> : <WebhookList />;
}
