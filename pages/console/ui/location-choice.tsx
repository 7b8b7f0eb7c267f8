/** @jsxImportSource react */
import { useEffect } from 'react';
import { useCanName, useFoundLocations, useLocation } from '../graph/use-locations.ts';
import { goTo, type ViewName } from '../navigation.ts';
import { texts } from '../texts.ts';
import { LocationById } from './location-by-id.tsx';
import { LocationSearch } from './location-search.tsx';
import { FailureNotice } from './view-state.tsx';

/**
 * The form field in which the user chooses the location that a view shows. If the address of the page contains no
 * location id, the view shows the first location in the scope of the API key. In the history of the browser, the
 * address with the id of the first location then replaces the address without an id. If the address without a location
 * id stayed in the history, the back button would always open the first location again.
 */
export function LocationChoice({ view, locationId }: { view: ViewName; locationId: string | undefined }) {
  const canName = useCanName();
  const chosen = useLocation(locationId);
  const { locations, view: reading } = useFoundLocations('', { first: 1, pause: locationId !== undefined });
  const first = locations?.[0]?.id;
  useEffect(() => {
    if (!locationId && first) goTo(view, first, { replace: true });
  }, [locationId, first, view]);
  useEffect(() => {
    // When the user chooses another location, React removes the search field of the previous location. If the removed
    // search field had the focus, the title of the view gets the focus.
    if (document.activeElement === document.body) {
      document.querySelector<HTMLElement>('.view-header h1')?.focus({ preventScroll: true });
    }
  }, [locationId]);
  if (!canName) return <LocationById view={view} />;
  if (locationId) {
    return (
      <LocationSearch
        key={locationId}
        label={texts.state.location}
        chosen={chosen}
        onChoose={({ id }) => goTo(view, id)}
      />
    );
  }
  if (reading?.failure) return <FailureNotice failure={reading.failure} onRetry={reading.reload} />;
  return locations?.length === 0 ? <p className="quiet">{texts.sites.empty}</p> : null;
}
