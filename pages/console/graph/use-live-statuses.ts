import { SitesLiveDocument, type StatusFieldsFragment } from '../generated/operations.ts';
import { useKey } from './key-context.tsx';
import type { LiveState } from './live.ts';
import { useLive } from './use-live.ts';

/**
 * Keeps the status of the given locations up to date. Each new status goes into the cache of the GraphQL client, so all
 * views of the console show the new status.
 *
 * @param onChange a function that the hook calls with each status from the subscription, including the first status
 */
export function useLiveStatuses(
  locationIds: readonly string[],
  onChange?: (status: StatusFieldsFragment) => void,
): LiveState {
  const { may } = useKey();
  const { state } = useLive(
    SitesLiveDocument,
    { locationIds: [...locationIds] },
    {
      pause: !may('READ_STATUS') || locationIds.length === 0,
      onNext: ({ locationStatusesChanged }) => onChange?.(locationStatusesChanged),
    },
  );
  return state;
}
