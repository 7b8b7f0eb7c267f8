/** @jsxImportSource react */
import { type ReactNode, useEffect, useState } from 'react';
import type { Permission } from '../generated/operations.ts';
import type { Failure } from '../graph/failure.ts';
import { useKey } from '../graph/key-context.tsx';
import type { View } from '../graph/use-view.ts';
import { texts } from '../texts.ts';
import { Button } from './controls.tsx';

/** Returns the number of seconds until a given time. The number changes every second. */
function useSecondsUntil(time: number): number {
  const secondsLeft = () => Math.max(0, Math.ceil((time - Date.now()) / 1000));
  const [seconds, setSeconds] = useState(secondsLeft);
  useEffect(() => {
    setSeconds(secondsLeft());
    const timer = setInterval(() => setSeconds(secondsLeft()), 1000);
    return () => clearInterval(timer);
  }, [time]);
  return seconds;
}

function RateLimitText({ retryAt }: { retryAt: number }) {
  return <>{texts.state.rateLimit(useSecondsUntil(retryAt))}</>;
}

/** Shows a message that explains a failure. */
function FailureText({ failure }: { failure: Failure }) {
  if (failure.kind === 'rate-limit') return <RateLimitText retryAt={failure.retryAt} />;
  if (failure.kind === 'offline') return <>{texts.state.offline}</>;
  if (failure.kind === 'key-refused') return <>{texts.state.keyRefused(failure.message)}</>;
  return <>{texts.state.refused(failure.message)}</>;
}

/** Shows the failure of a view or a form. There is a retry button, unless the view retries automatically. */
export function FailureNotice({ failure, onRetry }: { failure: Failure | undefined; onRetry?: () => void }) {
  if (!failure) return null;
  return (
    <div className={`notice ${failure.kind === 'refused' ? 'bad' : 'warn'}`} role="alert">
      <span>
        <FailureText failure={failure} />
      </span>
      {onRetry && failure.kind !== 'rate-limit' && <Button onPress={onRetry}>{texts.state.retry}</Button>}
    </div>
  );
}

/**
 * Shows a view while its data is loading, without data, with data, or with old data that could not be read again.
 *
 * @param props.empty the text for a view without data
 */
export function ViewState<Data>(props: {
  view: View<Data>;
  isEmpty?: (data: Data) => boolean;
  empty?: string;
  children(data: Data): ReactNode;
}) {
  const { view, isEmpty = () => false, empty = texts.state.none, children } = props;
  const { data, failure, loading, reload } = view;
  return (
    <>
      <FailureNotice failure={failure} onRetry={reload} />
      {data === undefined && (loading || !failure) && (
        <p className="loading" role="status">
          {texts.state.loading}
        </p>
      )}
      {data !== undefined && (isEmpty(data) ? <p className="empty">{empty}</p> : children(data))}
    </>
  );
}

/**
 * Shows a part of the console if the API key has the given permissions. Otherwise, the missing permissions are shown.
 */
export function Permitted({ need, children }: { need: readonly Permission[]; children: ReactNode }) {
  const { may } = useKey();
  if (may(...need)) return <>{children}</>;
  return <p className="empty">{texts.state.missing(need)}</p>;
}
