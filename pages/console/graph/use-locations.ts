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
  /** The IANA name of the time zone; undefined when the API key may not read the time zone. */
  timezone: string | undefined;
}

/** Some of the locations that the user can choose, such as the results of a search. */
export interface FoundLocations {
  /** The locations, or undefined while they are loading. */
  locations: KnownLocation[] | undefined;
  /** Whether more locations match the search. */
  hasMore: boolean;
  /** The query that reads the locations; undefined when no query is needed. */
  view: View<unknown> | undefined;
}

/**
 * Returns how the names of locations can be read: from the list of locations, or from their statuses. The API key
 * itself contains only ids.
 */
const sourceOf = ({ may }: ConsoleKey) =>
  may('READ_LOCATIONS') ? 'names' : may('READ_STATUS') ? 'statuses' : 'key';

/**
 * Finds locations whose name contains a text, up to a maximum number. An API key without READ_LOCATIONS cannot use the
 * search of the graph. The hook then searches in the statuses of locations, or in the locations in the key's scope.
 *
 * @param options.pause whether to read nothing
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
 * Finds a location by its id. The result is undefined while the location is loading. If the API key may not read the
 * name of the location, the name is its id.
 */
export function useLocation(id: string | undefined): KnownLocation | undefined {
  const key = useKey();
  const source = sourceOf(key);
  const named = useView(LocationNameDocument, { id: id ?? '' }, { pause: source !== 'names' || !id });
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

/** Whether the console can list locations by name. If not, the user must enter the id of a location. */
export function useCanName(): boolean {
  const key = useKey();
  return sourceOf(key) !== 'key' || key.viewer.locationIds.length > 0;
}
