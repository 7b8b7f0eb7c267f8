import {
  FindLocationsDocument,
  LocationNameDocument,
  SiteStatusesDocument,
} from '../generated/operations.ts';
import { type ConsoleKey, useKey } from './key-context.tsx';
import { useView, type View } from './use-view.ts';

/** A location that the user can choose. */
export interface KnownLocation {
  id: string;
  name: string;
  /** The IANA name of the time zone, or `undefined` if the API key has no permission to read the time zone. */
  timezone: string | undefined;
}

/** The locations that match a search, up to the requested maximum number. */
export interface FoundLocations {
  /** The locations, or `undefined` while they are loading. */
  locations: KnownLocation[] | undefined;
  /** True if more locations match the search than the list `locations` contains. */
  hasMore: boolean;
  /**
   * The state of the query that reads the locations. If the console takes the locations from the scope of the API key,
   * it runs no query, and `view` is `undefined`.
   */
  view: View<unknown> | undefined;
}

/**
 * Returns the source from which the console reads the locations. The source depends on the permissions of the API key:
 * `names` means the query `locations`, `statuses` means the query `locationStatuses`, and `key` means the list of
 * location ids in the scope of the API key.
 */
const sourceOf = ({ may }: ConsoleKey) =>
  may('READ_LOCATIONS') ? 'names' : may('READ_STATUS') ? 'statuses' : 'key';

/**
 * Finds at most `first` locations whose name contains a text. The location search of the GraphQL API needs the
 * permission READ_LOCATIONS. If the API key has READ_STATUS but not READ_LOCATIONS, the console reads the statuses of
 * all locations, and searches the location names for the text. With neither READ_LOCATIONS nor READ_STATUS, the
 * console searches the location ids in the scope of the API key for the text.
 *
 * @param options.pause while `pause` is true, the hook does not search for locations
 */
export function useFoundLocations(
  search: string,
  { first, pause }: { first: number; pause: boolean },
): FoundLocations {
  const key = useKey();
  const source = sourceOf(key);
  const names = useView(FindLocationsDocument, { search, first }, { pause: pause || source !== 'names' });
  const statuses = useView(SiteStatusesDocument, {}, { pause: pause || source !== 'statuses' });
  if (source === 'names') {
    const found = names.data?.locations;
    return { locations: found?.nodes, hasMore: found?.pageInfo.hasNextPage ?? false, view: names };
  }
  const all =
    source === 'key'
      ? key.viewer.locationIds.map((id) => ({ id, name: id, timezone: undefined }))
      : statuses.data?.locationStatuses?.map(({ locationId, name }) => ({
          ...{ id: locationId, name },
          timezone: undefined,
        }));
  const found = all?.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()));
  return {
    locations: found?.slice(0, first),
    hasMore: found !== undefined && found.length > first,
    view: source === 'key' ? undefined : statuses,
  };
}

/**
 * Finds a location by its id. While the location is loading, the result is `undefined`. If the API key has no
 * permission to read the name of the location, `name` contains the location id.
 */
export function useLocation(id: string | undefined): KnownLocation | undefined {
  const key = useKey();
  const source = sourceOf(key);
  const named = useView(
    LocationNameDocument,
    { id: id ?? '' },
    { pause: source !== 'names' || !id, onlyCurrent: true },
  );
  const statuses = useView(SiteStatusesDocument, {}, { pause: source !== 'statuses' || !id });
  if (!id) return undefined;
  const unnamed = { id, name: id, timezone: undefined };
  if (source === 'key') return unnamed;
  if (source === 'statuses') {
    const status = statuses.data?.locationStatuses?.find(({ locationId }) => locationId === id);
    return status ? { ...unnamed, name: status.name } : statuses.data && unnamed;
  }
  return named.data?.location ?? (named.failure ? unnamed : undefined);
}

/**
 * Whether the console can show a list of locations. If the console cannot show a list of locations, the user must enter
 * the id of a location.
 */
export function useCanName(): boolean {
  const key = useKey();
  return sourceOf(key) !== 'key' || key.viewer.locationIds.length > 0;
}
