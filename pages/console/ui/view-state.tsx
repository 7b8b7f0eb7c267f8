/** @jsxImportSource react */
import { type ReactNode, useEffect, useState } from 'react';
import type { Permission } from '../generated/operations.ts';
import { type Failure, isUncertain } from '../graph/failure.ts';
import { useKey } from '../graph/key-context.tsx';
import type { View } from '../graph/use-view.ts';
import { texts } from '../texts.ts';
import { Button } from './controls.tsx';

/** Returns the number of seconds until a given time, and updates the number every second. */
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

function RateLimitText({ retryAt, isRetried }: { retryAt: number; isRetried: boolean }) {
  const { rateLimitRetry, rateLimitWait } = texts.state;
  return <>{(isRetried ? rateLimitRetry : rateLimitWait)(useSecondsUntil(retryAt))}</>;
}

/** Explains a failure to the user, and says whether the console repeats the failed request. */
function FailureText({ failure, isRetried }: { failure: Failure; isRetried: boolean }) {
  if (failure.kind === 'rate-limit') return <RateLimitText retryAt={failure.retryAt} isRetried={isRetried} />;
  if (failure.kind === 'offline') return <>{isRetried ? texts.state.offlineRetry : texts.state.offline}</>;
  if (failure.kind === 'key-refused') return <>{texts.state.keyRefused(failure.message)}</>;
  return <>{texts.state.refused(failure.message)}</>;
}

/**
 * Shows the error message of a view or a form, with a retry button if `onRetry` is given. After a rate limit error, the
 * error message has no retry button, because the view repeats its request automatically.
 *
 * @param props.isRetried whether the console repeats the failed request. If a request of a view fails, the console
 *   repeats the request. The console does not repeat a failed request of a form, because the user can have changed the
 *   form in the meantime
 * @param props.isChange whether the failed request was meant to change data. If the gateway may have changed the data
 *   although the request failed, the error message says so
 */
export function FailureNotice(props: {
  failure: Failure | undefined;
  onRetry?: () => void;
  isRetried?: boolean;
  isChange?: boolean;
}) {
  const { failure, onRetry, isRetried = onRetry !== undefined, isChange = false } = props;
  if (!failure) return null;
  return (
    <div className={`notice ${failure.kind === 'refused' ? 'bad' : 'warn'}`} role="alert">
      <span>
        <FailureText failure={failure} isRetried={isRetried} />
        {isChange && isUncertain(failure) && ` ${texts.state.uncertain}`}
      </span>
      {onRetry && failure.kind !== 'rate-limit' && <Button onPress={onRetry}>{texts.state.retry}</Button>}
    </div>
  );
}

/**
 * Shows the data of a view. While the data is loading, or if there is no data, the view shows a message instead of the
 * data. If the view cannot refresh its data, the view shows the earlier data with an error message.
 *
 * @param props.empty the message that is shown when the view has no data
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
 * Shows `children` only if the API key has all permissions in `need`. If a permission is missing, a message lists the
 * permissions in `need`.
 */
export function Permitted({ need, children }: { need: readonly Permission[]; children: ReactNode }) {
  const { may } = useKey();
  if (may(...need)) return <>{children}</>;
  return <p className="empty">{texts.state.missing(need)}</p>;
}
