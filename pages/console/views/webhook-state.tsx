/** @jsxImportSource react */
import type { WebhookFieldsFragment } from '../generated/operations.ts';
import { texts } from '../texts.ts';
import { Badge } from '../ui/controls.tsx';
import { Time } from '../ui/time.tsx';

const { webhooks: words } = texts;

/**
 * Shows whether the receiver of a webhook accepts messages. If the receiver accepts no messages, `WebhookState` also
 * shows the time of the first failure.
 */
export function WebhookState({ webhook }: { webhook: WebhookFieldsFragment }) {
  const { enabled, disabledAt, failingSince } = webhook;
  if (!enabled) {
    return (
      <>
        <Badge tone="bad">{words.disabledSince}</Badge> <Time at={disabledAt} />
      </>
    );
  }
  if (!failingSince) return <Badge tone="good">{words.ok}</Badge>;
  return (
    <>
      <Badge tone="warn">{words.failingSince}</Badge> <Time at={failingSince} />
    </>
  );
}
