/** @jsxImportSource react */
import { useState } from 'react';
import {
  DeliveryBodiesDocument,
  TestWebhookDocument,
  WebhookBacklogDocument,
  WebhookDeliveriesDocument,
  type WebhookDeliveryStatus,
} from '../generated/operations.ts';
import { useKey } from '../graph/key-context.tsx';
import { useChange } from '../graph/use-change.ts';
import { useLive } from '../graph/use-live.ts';
import { useView } from '../graph/use-view.ts';
import { addressOf } from '../navigation.ts';
import { texts } from '../texts.ts';
import { Badge, Button, Choice } from '../ui/controls.tsx';
import { Pager } from '../ui/data-table.tsx';
import { LiveBadge } from '../ui/live-badge.tsx';
import { usePages } from '../ui/use-pages.ts';
import { ViewHeader } from '../ui/view-header.tsx';
import { FailureNotice, ViewState } from '../ui/view-state.tsx';
import { DeliveryTable } from './delivery-table.tsx';
import { RecoveryForm } from './recovery-form.tsx';
import { WebhookState } from './webhook-state.tsx';

const { webhooks: words } = texts;

type Filter = 'ALL' | WebhookDeliveryStatus;
const filters = [['ALL', words.all], ...Object.entries(words.statuses)] as readonly (readonly [
  Filter,
  string,
])[];

/** Shows how many messages wait in the queue of a pull webhook, with live updates. */
function Backlog({ id }: { id: string }) {
  const { may } = useKey();
  const pause = !may('RECEIVE_WEBHOOKS');
  const { data, state } = useLive(WebhookBacklogDocument, { id }, { pause });
  return (
    <>
      {data && <Badge tone="quiet">{words.backlog(data.webhookMessagesWaiting.waiting)}</Badge>}{' '}
      <LiveBadge state={state} />
    </>
  );
}

/**
 * The view of a webhook. The view shows the state of the webhook. For each delivery of the webhook, the view shows the
 * delivery attempts and the message body. The view of a webhook also has buttons that send messages of the webhook
 * again.
 */
export function WebhookDetail({ id }: { id: string }) {
  const pages = usePages();
  const [filter, setFilter] = useState<Filter>('ALL');
  const [withBodies, setWithBodies] = useState(false);
  const [recovering, setRecovering] = useState(false);
  const [tested, setTested] = useState(false);
  const variables = { id, status: filter === 'ALL' ? null : filter, after: pages.after };
  const view = useView(WebhookDeliveriesDocument, variables);
  const testing = useChange(TestWebhookDocument, { onUncertain: view.reload });
  const bodies = useView(DeliveryBodiesDocument, variables, { pause: !withBodies });
  const webhook = view.data?.webhook;
  const bodyOf = new Map(bodies.data?.webhook?.deliveries.nodes.map(({ id, body }) => [id, body]));

  async function test() {
    setTested(false);
    if (!(await testing.send({ id }))) return;
    setTested(true);
    view.reload();
  }

  return (
    <>
      <a className="back" href={addressOf('webhooks')}>
        ← {words.title}
      </a>
      <ViewHeader title={webhook?.url ?? (webhook ? words.pull : id)} operation={view.operation}>
        <Button isDisabled={!webhook || testing.sending} onPress={() => void test()}>
          {words.test}
        </Button>
        <Button isDisabled={!webhook} onPress={() => setRecovering(true)}>
          {words.recover}
        </Button>
      </ViewHeader>
      <FailureNotice failure={testing.failure} isChange />
      {tested && (
        <p className="notice good" role="status">
          {words.tested}
        </p>
      )}
      {webhook && (
        <section className="card form">
          <p>
            <WebhookState webhook={webhook} /> {webhook.delivery === 'PULL' && <Backlog id={id} />}
          </p>
          <ul className="list">
            {webhook.events.map((event) => (
              <li key={event}>
                <code>{event}</code>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section className="card">
        <div className="row end">
          <h2>{words.deliveries}</h2>
          <label className="check">
            <input
              type="checkbox"
              checked={withBodies}
              onChange={(event) => setWithBodies(event.target.checked)}
            />
            {words.showBodies}
          </label>
          <Choice
            label={words.status}
            value={filter}
            options={filters}
            onChange={(next) => {
              pages.restart();
              setFilter(next);
            }}
          />
        </div>
        <FailureNotice failure={bodies.failure} onRetry={bodies.reload} />
        <ViewState
          view={view}
          isEmpty={(data) => data.webhook?.deliveries.nodes.length === 0}
          empty={words.noDeliveries}
        >
          {(data) => (
            <DeliveryTable
              deliveries={data.webhook?.deliveries.nodes ?? []}
              bodyOf={withBodies ? bodyOf : undefined}
              onSent={view.reload}
            />
          )}
        </ViewState>
        <Pager {...pages.steps(webhook?.deliveries.pageInfo)} />
      </section>
      {recovering && <RecoveryForm id={id} onDone={view.reload} onClose={() => setRecovering(false)} />}
    </>
  );
}
