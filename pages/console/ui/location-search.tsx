/** @jsxImportSource react */
import { useEffect, useState } from 'react';
import {
  Button as AriaButton,
  ComboBox,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
} from 'react-aria-components';
import { type FoundLocations, type KnownLocation, useFoundLocations } from '../graph/use-locations.ts';
import { texts } from '../texts.ts';
import { FailureNotice } from './view-state.tsx';

/** The maximum number of locations that the location search requests and shows. */
const shownLocations = 20;

/** The time between the last key press and the start of the search, in milliseconds. */
const typingPauseMs = 250;

/**
 * Returns the text of a search field when 250 milliseconds have passed since the last change of the text (debouncing).
 */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), typingPauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

function Options({ found: { locations, hasMore, view } }: { found: FoundLocations }) {
  return (
    <Popover className="popover">
      <ListBox
        className="options"
        renderEmptyState={() =>
          view?.failure ? (
            <FailureNotice failure={view.failure} isRetried />
          ) : (
            <p className="popover-note">{locations ? texts.state.noSuchLocation : texts.state.loading}</p>
          )
        }
      >
        {(locations ?? []).map(({ id, name }) => (
          <ListBoxItem key={id} id={id} textValue={name}>
            {name}
          </ListBoxItem>
        ))}
      </ListBox>
      {hasMore && <p className="popover-note">{texts.state.moreLocations}</p>}
    </Popover>
  );
}

/**
 * A form field in which the user searches for a location by a part of its name.
 *
 * @param props.chosen the selected location; the field shows the name of this location while the field has no focus
 */
export function LocationSearch(props: {
  label: string;
  chosen: KnownLocation | undefined;
  onChoose(location: KnownLocation): void;
}) {
  const { label, chosen, onChoose } = props;
  const shownName = chosen?.name ?? '';
  const [typed, setTyped] = useState<string>(); // `typed` is `undefined` when the field has no focus
  const [picked, setPicked] = useState<string>();
  const term = typed === undefined || typed === shownName ? '' : typed;
  const found = useFoundLocations(useSettled(term), { first: shownLocations, pause: typed === undefined });
  return (
    <ComboBox
      className="field choice"
      menuTrigger="focus"
      allowsEmptyCollection
      allowsCustomValue // `allowsCustomValue` keeps the typed text until the field loses the focus
      items={found.locations ?? []}
      inputValue={typed ?? shownName}
      onInputChange={setTyped}
      onFocus={() => {
        setTyped(shownName);
        setPicked(undefined);
      }}
      onBlur={() => setTyped(undefined)}
      selectedKey={picked ?? null}
      onSelectionChange={(id) => {
        const location = found.locations?.find((each) => each.id === id);
        if (!location) return;
        setPicked(location.id);
        if (location.id !== chosen?.id) onChoose(location);
      }}
    >
      <Label>{label}</Label>
      <div className="combo">
        <Input autoComplete="off" spellCheck={false} onFocus={(event) => event.target.select()} />
        <AriaButton className="combo-button">
          <span aria-hidden="true">▾</span>
        </AriaButton>
      </div>
      <Options found={found} />
    </ComboBox>
  );
}
