import { SitesLiveDocument, type StatusFieldsFragment } from '../generated/operations.ts';
import { useKey } from './key-context.tsx';
import type { LiveState } from './live.ts';
import { useLive } from './use-live.ts';

/**
 * Subscribes to the statuses of the given locations, so that the console always shows the current statuses. Each new
 * location status goes into the cache of the GraphQL client, so all views of the console show it.
 *
 * @param onChange a function that the hook calls with each location status that the subscription sends, including the
 *   first status
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
