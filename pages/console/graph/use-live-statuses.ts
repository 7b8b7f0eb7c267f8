import { useSubscription } from 'urql';
import { SitesLiveDocument, type StatusFieldsFragment } from '../generated/operations.ts';
import { useKey } from './key-context.tsx';

/**
 * Follows the status of some locations. Each new status is written to the cache, so that every view shows it.
 *
 * @param onChange is called with each status after the first status of each location
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
