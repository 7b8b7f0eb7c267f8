/** @jsxImportSource react */
import type { EntryFieldsFragment } from '../generated/operations.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/controls.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { Plate, plateText } from '../ui/plate.tsx';
import { hoursText, usesText, Validity } from './entry-summary.tsx';

const { whitelist: words } = texts;

/**
 * A table with the entries on one page of the whitelist. Each row has buttons for the actions on its whitelist entry.
 */
export function EntryTable(props: {
  entries: readonly EntryFieldsFragment[];
  zone: string | undefined;
  mayWrite: boolean;
  onEdit(entry: EntryFieldsFragment): void;
  onRemove(entry: EntryFieldsFragment): void;
  onQuota(referenceId: string): void;
}) {
  const { entries, zone, mayWrite, onEdit, onRemove, onQuota } = props;
  const actions: Column<EntryFieldsFragment> = {
    title: words.actions,
    cell: (entry) => (
      <>
        <Button look="quiet" aria-label={`${words.edit} ${plateText(entry)}`} onPress={() => onEdit(entry)}>
          {words.edit}
        </Button>
        <Button
          look="quiet"
          aria-label={`${words.remove} ${plateText(entry)}`}
          onPress={() => onRemove(entry)}
        >
          {words.remove}
        </Button>
      </>
    ),
  };
  return (
    <DataTable
      label={words.title}
      rows={entries}
      keyOf={({ id }) => id}
      columns={[
        { title: texts.location.plate, cell: (entry) => <Plate of={entry} /> },
        {
          title: words.reference,
          cell: ({ referenceId }) => (
            <Button
              look="quiet"
              aria-label={`${words.quota} ${referenceId}`}
              onPress={() => onQuota(referenceId)}
            >
              {referenceId}
            </Button>
          ),
        },
        { title: words.vehicle, cell: ({ vehicleType }) => vehicleType ?? '–' },
        { title: words.validity, cell: (entry) => <Validity entry={entry} zone={zone} /> },
        { title: words.hours, cell: ({ hours }) => <span className="wrap">{hoursText(hours)}</span> },
        { title: words.uses, cell: usesText, numeric: true },
        ...(mayWrite ? [actions] : []),
      ]}
    />
  );
}
