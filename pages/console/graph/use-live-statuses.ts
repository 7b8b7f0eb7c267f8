import { useSubscription } from 'urql';
import { SitesLiveDocument, type StatusFieldsFragment } from '../generated/operations.ts';
import { useKey } from './key-context.tsx';

/**
 * Keeps the status of the given locations up to date. Each new status goes into the cache of the GraphQL client, so all
 * views of the console show the new status.
 *
 * @param onChange called with each status that the subscription sends, including the first status
 * @returns whether the subscription has received a status and has no error
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
