/** @jsxImportSource react */
import { useState } from 'react';
import { goTo, type ViewName } from '../navigation.ts';
import { texts } from '../texts.ts';
import { Button, Field } from './controls.tsx';

/**
 * A form in which the user enters the id of a location to open the given view of this location. The console shows this
 * form when it cannot show a list of locations.
 */
export function LocationById({ view }: { view: ViewName }) {
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
