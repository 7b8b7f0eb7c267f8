/** @jsxImportSource react */
import { useState } from 'react';
import {
  ChangeKeyDocument,
  type CreateApiKeyInput,
  IssueKeyDocument,
  type KeyFieldsFragment,
  type Permission,
  type UpdateApiKeyInput,
} from '../generated/operations.ts';
import { fieldMessages } from '../graph/failure.ts';
import { useKey } from '../graph/key-context.tsx';
import { useChange } from '../graph/use-change.ts';
import { type KnownLocation, useFoundLocations } from '../graph/use-locations.ts';
import { texts } from '../texts.ts';
import { Button, Field } from '../ui/controls.tsx';
import { LocationSearch } from '../ui/location-search.tsx';
import { SecretPanel } from '../ui/secret.tsx';
import { instantOf, localOf, readerZone } from '../ui/time.tsx';
import { FailureNotice } from '../ui/view-state.tsx';

const { keys: words } = texts;

/** Adds a value to a list, or removes the value if it is already in the list. */
const toggled = <Value,>(list: readonly Value[], value: Value) =>
  list.includes(value) ? list.filter((each) => each !== value) : [...list, value];

const sameValues = (list: readonly string[], other: readonly string[]) =>
  list.length === other.length && list.every((value) => other.includes(value));

/** A group of checkboxes with which the user chooses several values from a list. */
function Ticks<Value extends string>(props: {
  legend: string;
  options: readonly { value: Value; name: string }[];
  ticked: readonly Value[];
  onChange(ticked: Value[]): void;
}) {
  const { legend, options, ticked, onChange } = props;
  return (
    <fieldset>
      <legend>{legend}</legend>
      {options.map(({ value, name }) => (
        <label key={value} className="check">
          <input
            type="checkbox"
            checked={ticked.includes(value)}
            onChange={() => onChange(toggled(ticked, value))}
          />
          {name}
        </label>
      ))}
    </fieldset>
  );
}

/**
 * The maximum number of locations for which the form shows a checkbox. If there are more locations, the user finds the
 * other locations with a search field.
 */
const tickedLocations = 100;

/**
 * Shows a checkbox for each location that the user can add to the scope of an API key. If there are more than 100
 * locations, the form also shows a search field for the locations that have no checkbox.
 */
function LocationScope({ ids, onChange }: { ids: readonly string[]; onChange(ids: string[]): void }) {
  const { locations, hasMore } = useFoundLocations('', { first: tickedLocations, pause: false });
  const [added, setAdded] = useState<readonly KnownLocation[]>([]);
  if (!locations || locations.length === 0) return null;
  const offered = [...locations, ...added.filter(({ id }) => !locations.some((other) => other.id === id))];
  const unnamed = ids.filter((id) => !offered.some((location) => location.id === id));
  return (
    <>
      <Ticks
        legend={words.locations}
        options={[
          ...offered.map(({ id, name }) => ({ value: id, name })),
          ...unnamed.map((id) => ({ value: id, name: id })),
        ]}
        ticked={ids}
        onChange={onChange}
      />
      {hasMore && (
        <LocationSearch
          label={words.addLocation}
          chosen={undefined}
          onChoose={(location) => {
            setAdded([...added, location]);
            if (!ids.includes(location.id)) onChange([...ids, location.id]);
          }}
        />
      )}
    </>
  );
}

/**
 * A form that issues or changes an API key. The secret of a new API key is shown only once. A user can give another API
 * key only permissions that the user's own API key has. The form sends only the fields that the user changed, because
 * another user may have changed other fields in the meantime. For an operator's key, the form does not offer locations,
 * because the scope of an operator's key always contains every location.
 *
 * @param props.edited the API key to change, or `undefined` to issue a new API key
 * @param props.onChanged a function that reads the list of API keys again
 */
export function KeyEditor(props: {
  edited: KeyFieldsFragment | undefined;
  onChanged(): void;
  onClose(): void;
}) {
  const { edited, onChanged, onClose } = props;
  const { viewer } = useKey();
  const [name, setName] = useState(edited?.name ?? '');
  const [permissions, setPermissions] = useState<Permission[]>(edited?.permissions ?? []);
  const [locationIds, setLocationIds] = useState<string[]>(edited?.locationIds ?? []);
  const [hourlyLimit, setHourlyLimit] = useState(edited?.hourlyLimit.toString() ?? '');
  const [burstLimit, setBurstLimit] = useState(edited?.burstLimit.toString() ?? '');
  const [expiresAt, setExpiresAt] = useState(localOf(edited?.expiresAt));
  const [secret, setSecret] = useState<string>();
  const issuing = useChange(IssueKeyDocument, { onUncertain: onChanged });
  const changing = useChange(ChangeKeyDocument, { onUncertain: onChanged });
  const { failure, sending } = edited ? changing : issuing;
  const errors = fieldMessages(failure);
  // If the user enters no rate limits for a new API key, the gateway chooses the limits. An existing API key always has
  // both rate limits: the hourly limit and the burst limit.
  const lacksLimit = (limit: string) => edited !== undefined && limit === '';

  async function issue(input: CreateApiKeyInput) {
    const data = await issuing.send({ input });
    if (!data) return;
    setSecret(data.createApiKey?.secret);
    onChanged();
  }

  async function save() {
    const number = (text: string) => (text === '' ? undefined : Number(text));
    const input = {
      name,
      permissions,
      locationIds,
      hourlyLimit: number(hourlyLimit),
      burstLimit: number(burstLimit),
      expiresAt: instantOf(expiresAt) ?? viewer.expiresAt,
    };
    if (!edited) return issue(input);
    const changes: UpdateApiKeyInput = {
      ...(name !== edited.name && { name }),
      ...(!sameValues(permissions, edited.permissions) && { permissions }),
      ...(!sameValues(locationIds, edited.locationIds) && { locationIds }),
      ...(input.hourlyLimit !== edited.hourlyLimit && { hourlyLimit: input.hourlyLimit }),
      ...(input.burstLimit !== edited.burstLimit && { burstLimit: input.burstLimit }),
      ...(expiresAt !== localOf(edited.expiresAt) && { expiresAt: input.expiresAt }),
    };
    const isChanged = Object.keys(changes).length > 0;
    if (isChanged && !(await changing.send({ id: edited.id, input: changes }))) return;
    if (isChanged) onChanged();
    onClose();
  }

  return (
    <SecretPanel
      title={edited ? `${words.change} ${edited.name}` : words.issue}
      secret={secret}
      isSending={sending}
      onClose={onClose}
    >
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <FailureNotice failure={failure} isChange />
        <Field label={words.name} value={name} onChange={setName} error={errors.name} />
        <Ticks
          legend={words.permissions}
          options={viewer.permissions.map((value) => ({ value, name: value }))}
          ticked={permissions}
          onChange={setPermissions}
        />
        {!edited?.unrestricted && <LocationScope ids={locationIds} onChange={setLocationIds} />}
        <div className="row end">
          <Field
            label={words.hourlyLimit}
            type="number"
            value={hourlyLimit}
            onChange={setHourlyLimit}
            error={lacksLimit(hourlyLimit) ? words.limitRequired : errors.hourlyLimit}
            required={edited !== undefined}
          />
          <Field
            label={words.burstLimit}
            type="number"
            value={burstLimit}
            onChange={setBurstLimit}
            error={lacksLimit(burstLimit) ? words.limitRequired : errors.burstLimit}
            required={edited !== undefined}
          />
        </div>
        <Field
          label={words.expiresAt(readerZone)}
          type="datetime-local"
          value={expiresAt}
          onChange={setExpiresAt}
          error={errors.expiresAt}
        />
        <footer className="dialog-footer">
          <Button isDisabled={sending} onPress={onClose}>
            {texts.state.cancel}
          </Button>
          <Button
            look="primary"
            type="submit"
            isDisabled={sending || lacksLimit(hourlyLimit) || lacksLimit(burstLimit)}
          >
            {edited ? words.save : words.issue}
          </Button>
        </footer>
      </form>
    </SecretPanel>
  );
}
