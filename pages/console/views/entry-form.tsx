/** @jsxImportSource react */
import { type FormEvent, useState } from 'react';
import {
  AddEntryDocument,
  ChangeEntryDocument,
  type EntryFieldsFragment,
  type WeeklyHoursInput,
  type WhitelistEntryInput,
} from '../generated/operations.ts';
import { conflictingVersion, fieldMessages } from '../graph/failure.ts';
import { useChange } from '../graph/use-change.ts';
import { texts } from '../texts.ts';
import { Button, Field } from '../ui/controls.tsx';
import { Panel } from '../ui/panel.tsx';
import { editedInstant, localOf, readerZone } from '../ui/time.tsx';
import { FailureNotice } from '../ui/view-state.tsx';
import { HoursFields } from './hours-fields.tsx';

const { whitelist: words, why } = texts;

/**
 * Returns the values that the form fields show for a whitelist entry. For a new whitelist entry, all form fields are
 * empty.
 */
const valuesOf = (entry: EntryFieldsFragment | undefined) => ({
  referenceId: entry?.referenceId ?? '',
  plateType: entry?.plateType ?? '',
  plateCode: entry?.plateCode ?? '',
  plateNumber: entry?.plateNumber ?? '',
  vehicleType: entry?.vehicleType ?? '',
  note: entry?.note ?? '',
  validFrom: localOf(entry?.validFrom),
  validUntil: localOf(entry?.validUntil),
  maxEntries: entry?.maxEntries?.toString() ?? '',
});

type Values = ReturnType<typeof valuesOf>;

const labels: Record<keyof Values, string> = {
  referenceId: words.reference,
  plateType: why.plateType,
  plateCode: why.plateCode,
  plateNumber: why.plateNumber,
  vehicleType: words.vehicleType,
  note: words.note,
  validFrom: `${words.validFrom} (${readerZone})`,
  validUntil: `${words.validUntil} (${readerZone})`,
  maxEntries: words.maxEntries,
};

/**
 * Converts the values of the form fields to the input of the GraphQL mutation. For a time field that the user has not
 * edited, the input contains the exact time of `entry`, the whitelist entry that the form shows.
 */
function inputOf(
  values: Values,
  hours: WeeklyHoursInput[],
  entry: EntryFieldsFragment | undefined,
): WhitelistEntryInput {
  const { vehicleType, note, validFrom, validUntil, maxEntries, ...required } = values;
  return {
    ...required,
    vehicleType: vehicleType || null,
    note: note || null,
    validFrom: editedInstant(validFrom, entry?.validFrom),
    validUntil: editedInstant(validUntil, entry?.validUntil),
    maxEntries: maxEntries === '' ? null : Number(maxEntries),
    hours,
  };
}

/**
 * A form that adds a vehicle to a whitelist or changes a whitelist entry. If another user has changed the whitelist
 * entry while the form was open, the form reports the conflict. Before the form overwrites another user's change of the
 * whitelist entry, it asks for a confirmation.
 *
 * @param props.entry the whitelist entry as it was when the form was opened, or `undefined` to add a new whitelist
 *   entry
 * @param props.onConflict a function that reads the whitelist again. The form calls `onConflict` when the gateway
 *   rejects a change of the whitelist entry. The form also calls `onConflict` when adding a whitelist entry has failed,
 *   but the gateway may have added the entry despite the failure
 */
export function EntryForm(props: {
  locationId: string;
  entry: EntryFieldsFragment | undefined;
  onConflict(): void;
  onDone(): void;
  onClose(): void;
}) {
  const { locationId, entry, onConflict, onDone, onClose } = props;
  const [values, setValues] = useState(() => valuesOf(entry));
  const [hours, setHours] = useState<WeeklyHoursInput[]>(
    () => entry?.hours.map(({ days, from, to }) => ({ days, from, to })) ?? [],
  );
  const adding = useChange(AddEntryDocument, { onUncertain: onConflict });
  const changing = useChange(ChangeEntryDocument);
  const { failure, sending } = entry ? changing : adding;
  const newVersion = conflictingVersion(failure);
  const errors = fieldMessages(failure);

  async function save(version: number | undefined) {
    const input = inputOf(values, hours, entry);
    const data =
      entry && version !== undefined
        ? await changing.send({ locationId, id: entry.id, input, expectedVersion: version })
        : await adding.send({ locationId, input });
    if (data) onDone();
    else if (entry) onConflict();
  }

  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save(entry?.version);
  };
  const field = (name: keyof Values, type = 'text') => (
    <Field
      key={name}
      label={labels[name]}
      type={type}
      value={values[name]}
      onChange={(value) => setValues({ ...values, [name]: value })}
      error={errors[name]}
    />
  );
  return (
    <Panel title={entry ? words.edit : words.add} onClose={onClose} isKept={sending}>
      <form className="form" onSubmit={submit}>
        {newVersion === undefined ? (
          <FailureNotice failure={failure} isChange />
        ) : (
          <div className="notice warn" role="alert">
            <span>{words.changed}</span>
            <Button isDisabled={sending} onPress={() => void save(newVersion)}>
              {words.overwrite}
            </Button>
          </div>
        )}
        <div className="row end">
          {field('plateType')}
          {field('plateCode')}
          {field('plateNumber')}
        </div>
        {field('referenceId')}
        <div className="row end">
          {field('vehicleType')}
          {field('note')}
        </div>
        <div className="row end">
          {field('validFrom', 'datetime-local')}
          {field('validUntil', 'datetime-local')}
        </div>
        {field('maxEntries', 'number')}
        <HoursFields hours={hours} error={errors.hours} onChange={setHours} />
        <footer className="dialog-footer">
          <Button isDisabled={sending} onPress={onClose}>
            {texts.state.cancel}
          </Button>
          <Button look="primary" type="submit" isDisabled={sending}>
            {words.save}
          </Button>
        </footer>
      </form>
    </Panel>
  );
}
