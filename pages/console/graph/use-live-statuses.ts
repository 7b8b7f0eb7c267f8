import { useSubscription } from 'urql';
import { SitesLiveDocument, type StatusFieldsFragment } from '../generated/operations.ts';
import { useKey } from './key-context.tsx';

/**
 * Keeps the status of some locations up to date. Each new status is written to the cache, so that all views show it.
 *
 * @param onChange called with each status of a location except its first status
 * @returns whether the stream is open
 */
export function useLiveStatuses(
  locationIds: readonly string[],
  onChange?: (status: StatusFieldsFragment) => void,
): boolean {
  const { may } = useKey();
  const pause = !may('READ_STATUS') || locationIds.length === 0;
  const [{ data, error }] = useSubscription(
    { query: SitesLiveDocument, variables: { locationIds: [...locationIds] }, pause },
    (_, next: { locationStatusesChanged: StatusFieldsFragment }) => {
      onChange?.(next.locationStatusesChanged);
      return next;
    },
  );
  return !pause && data !== undefined && !error;
}
