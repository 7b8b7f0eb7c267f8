/** @jsxImportSource react */
import { type EntryFieldsFragment, RemoveEntryDocument } from '../generated/operations.ts';
import { useChange } from '../graph/use-change.ts';
import { texts } from '../texts.ts';
import { Confirmation } from '../ui/panel.tsx';
import { plateText } from '../ui/plate.tsx';
import { FailureNotice } from '../ui/view-state.tsx';

/**
 * A dialog that removes a whitelist entry. The whitelist entry is not removed if another user has changed it since the
 * dialog was opened.
 */
export function EntryRemoval(props: {
  entry: EntryFieldsFragment;
  onConflict(): void;
  onDone(): void;
  onClose(): void;
}) {
  const { entry, onConflict, onDone, onClose } = props;
  const { id, locationId, version } = entry;
  const removing = useChange(RemoveEntryDocument);
  async function remove() {
    const data = await removing.send({ locationId, id, expectedVersion: version });
    if (data) onDone();
    else onConflict();
  }
  return (
    <Confirmation
      question={texts.whitelist.removeAsk(plateText(entry))}
      action={texts.whitelist.remove}
      sending={removing.sending}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      <FailureNotice failure={removing.failure} isChange />
    </Confirmation>
  );
}
