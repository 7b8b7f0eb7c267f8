/** @jsxImportSource react */
import { useEffect, useState } from 'react';
import { useCanName, useFoundLocations, useLocation } from '../graph/use-locations.ts';
import { goTo, type ViewName } from '../navigation.ts';
import { texts } from '../texts.ts';
import { Button, Field } from './controls.tsx';
import { LocationSearch } from './location-search.tsx';
import { FailureNotice } from './view-state.tsx';

/**
 * A form in which the user enters the id of a location. The console shows the form if the console cannot show a list of
 * locations.
 */
function LocationById({ view }: { view: ViewName }) {
  const [typed, setTyped] = useState('');
  return (
    <form
      className="row end"
      onSubmit={(event) => {
        event.preventDefault();
        goTo(view, typed.trim());
      }}
    >
      <Field label={texts.state.locationId} value={typed} onChange={setTyped} />
      <Button type="submit">{texts.state.openLocation}</Button>
    </form>
  );
}

/**
 * The field for choosing the location of a view. If the address of the page contains no location id, the view shows the
 * first location in the scope of the API key.
 */
export function LocationChoice({ view, locationId }: { view: ViewName; locationId: string | undefined }) {
  const canName = useCanName();
  const chosen = useLocation(locationId);
  const { locations, view: reading } = useFoundLocations('', { first: 1, pause: locationId !== undefined });
  const first = locations?.[0]?.id;
  useEffect(() => {
    if (!locationId && first) goTo(view, first);
  }, [locationId, first, view]);
  if (!canName) return <LocationById view={view} />;
  if (locationId) {
    return (
      <LocationSearch label={texts.state.location} chosen={chosen} onChoose={({ id }) => goTo(view, id)} />
    );
  }
  if (reading?.failure) return <FailureNotice failure={reading.failure} onRetry={reading.reload} />;
  return locations?.length === 0 ? <p className="quiet">{texts.sites.empty}</p> : null;
}
