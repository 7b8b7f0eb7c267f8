/** @jsxImportSource react */
import { type DeliveryFieldsFragment, RedeliverDocument } from '../generated/operations.ts';
import { useChange } from '../graph/use-change.ts';
import { texts } from '../texts.ts';
import { Badge, Button } from '../ui/controls.tsx';
import { DataTable } from '../ui/data-table.tsx';
import { Time } from '../ui/time.tsx';
import { FailureNotice } from '../ui/view-state.tsx';

const { webhooks: words } = texts;

const toneOf = { PENDING: 'warn', DELIVERED: 'good', FAILED: 'bad', CANCELLED: 'quiet' } as const;

/** Returns the body of a webhook message as indented JSON. */
function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

/** Shows all attempts to deliver a webhook message, and the time of the next attempt. */
function Attempts({ delivery }: { delivery: DeliveryFieldsFragment }) {
  const { attempts, nextAttemptAt } = delivery;
  return (
    <>
      {attempts.map(({ id, createdAt, httpStatus, error, durationMs }) => (
        <div key={id}>
          <Time at={createdAt} /> {words.attempt(httpStatus, error, durationMs)}
        </div>
      ))}
      {nextAttemptAt && (
        <div className="quiet">
          {words.nextAttempt} <Time at={nextAttemptAt} />
        </div>
      )}
    </>
  );
}

/**
 * A table of a webhook's deliveries, with the attempts of each delivery. Each delivery has a button that makes the
 * gateway send the webhook message again.
 *
 * @param props.bodyOf maps the id of each delivery to the body of its webhook message. `bodyOf` is undefined if the
 *   view has not requested the bodies of the webhook messages
 */
export function DeliveryTable(props: {
  deliveries: readonly DeliveryFieldsFragment[];
  bodyOf: ReadonlyMap<string, string | null> | undefined;
  onSent(): void;
}) {
  const { deliveries, bodyOf, onSent } = props;
  const redelivering = useChange(RedeliverDocument, { onUncertain: onSent });
  const redeliver = async (deliveryId: string) => {
    if (await redelivering.send({ deliveryId })) onSent();
  };
  return (
    <>
      <FailureNotice failure={redelivering.failure} isChange />
      <DataTable
        label={words.deliveries}
        rows={deliveries}
        keyOf={({ id }) => id}
        columns={[
          { title: words.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
          { title: words.event, cell: ({ type }) => <code>{type}</code> },
          {
            title: words.status,
            cell: ({ status }) => <Badge tone={toneOf[status]}>{words.statuses[status]}</Badge>,
          },
          { title: words.attempts, cell: (delivery) => <Attempts delivery={delivery} /> },
          ...(bodyOf
            ? [
                {
                  title: words.body,
                  cell: ({ id }: DeliveryFieldsFragment) => (
                    <pre tabIndex={0}>{readable(bodyOf.get(id) ?? words.noBody)}</pre>
                  ),
                },
              ]
            : []),
          {
            title: texts.whitelist.actions,
            cell: ({ id }) => (
              <Button look="quiet" isDisabled={redelivering.sending} onPress={() => void redeliver(id)}>
                {words.redeliver}
              </Button>
            ),
          },
        ]}
      />
    </>
  );
}
