/** @jsxImportSource react */
import { useEffect, useMemo, useState } from 'react';
import { type EntryFieldsFragment, WhitelistDocument, WhyDocument } from '../generated/operations.ts';
import { useKey } from '../graph/key-context.tsx';
import { useLocation } from '../graph/use-locations.ts';
import { useView } from '../graph/use-view.ts';
import { texts } from '../texts.ts';
import { Button, Choice, Field } from '../ui/controls.tsx';
import { Pager } from '../ui/data-table.tsx';
import { LocationChoice } from '../ui/location-choice.tsx';
import { useDialog } from '../ui/use-dialog.ts';
import { usePages } from '../ui/use-pages.ts';
import { ViewHeader } from '../ui/view-header.tsx';
import { ViewState } from '../ui/view-state.tsx';
import { CsvPanel } from './csv-panel.tsx';
import { EntryForm } from './entry-form.tsx';
import { EntryRemoval } from './entry-removal.tsx';
import { EntryTable } from './entry-table.tsx';
import { QuotaForm } from './quota-form.tsx';

const { whitelist: words } = texts;

/** The number of whitelist entries on a page. */
const pageSize = 25;

type SearchBy = keyof typeof words.by;
interface Search {
  by: SearchBy;
  term: string;
  onlyValid: boolean;
}

/**
 * The dialog that the view shows. The dialog `edit` changes an existing whitelist entry, or creates a new entry if
 * `entry` is undefined. The dialog `remove` removes an existing whitelist entry. The dialog `quota` shows and changes
 * the quota of all whitelist entries with the same reference, such as an apartment. The dialog `csv` is for the import
 * and the export of the whitelist.
 */
type WhitelistDialog =
  | { kind: 'edit'; entry: EntryFieldsFragment | undefined }
  | { kind: 'remove'; entry: EntryFieldsFragment }
  | { kind: 'quota'; referenceId: string }
  | { kind: 'csv' };

/**
 * The search form of the whitelist. In the search form, the user chooses in which field to search, enters a text, and
 * can exclude whitelist entries that are not valid now.
 */
function SearchForm({ search, onSearch }: { search: Search; onSearch(search: Search): void }) {
  const [by, setBy] = useState<SearchBy>(search.by);
  const [term, setTerm] = useState(search.term);
  const options = (Object.keys(words.by) as SearchBy[]).map((name) => [name, words.by[name]] as const);
  return (
    <form
      className="card row end"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch({ ...search, by, term: term.trim() });
      }}
    >
      <Choice label={words.searchBy} value={by} options={options} onChange={setBy} />
      <Field label={words.by[by]} value={term} onChange={setTerm} />
      <label className="check">
        <input
          type="checkbox"
          checked={search.onlyValid}
          onChange={(event) => onSearch({ ...search, onlyValid: event.target.checked })}
        />
        {words.onlyValid}
      </label>
      <Button type="submit" look="primary">
        {words.search}
      </Button>
    </form>
  );
}

/** Returns whether a given time is within the validity period of a whitelist entry. */
function isValidAt({ validFrom, validUntil }: EntryFieldsFragment, at: string): boolean {
  const time = Date.parse(at);
  return (!validFrom || Date.parse(validFrom) <= time) && (!validUntil || time < Date.parse(validUntil));
}

/**
 * Returns the whitelist entries that the user's search finds. If the user searches for the plate text that a camera
 * read, the results are the whitelist entries whose plates match this text. If the user searches by a field of the
 * whitelist entry, the results are one page of the matching whitelist entries.
 */
function useEntries(locationId: string | undefined, search: Search, after: string | undefined) {
  const { by, term, onlyValid } = search;
  const byText = by === 'text' && term !== '';
  const validAt = useMemo(() => (onlyValid ? new Date().toISOString() : undefined), [search]);
  const filter = by === 'text' || term === '' ? {} : { [by]: term };
  const list = useView(
    WhitelistDocument,
    { locationId: locationId ?? '', first: pageSize, after, validAt, ...filter },
    { pause: !locationId || byText, onlyCurrent: 'locationId' },
  );
  const reading = useView(
    WhyDocument,
    { locationId: locationId ?? '', reading: { text: term } },
    { pause: !locationId || !byText, onlyCurrent: true },
  );
  if (!byText) {
    return { view: list, entries: list.data?.whitelist?.nodes, pageInfo: list.data?.whitelist?.pageInfo };
  }
  const decision = reading.data?.plateAccess;
  const found =
    decision &&
    [
      ...(decision.entry ? [decision.entry] : []),
      ...decision.candidates.map(({ entry }) => entry).filter(({ id }) => id !== decision.entry?.id),
    ].filter((entry) => !validAt || isValidAt(entry, validAt));
  return { view: reading, entries: found, pageInfo: undefined };
}

/**
 * The view of a location's whitelist. The user can search, change, import and export the entries of the whitelist. When
 * the user chooses another location, the whitelist view keeps the search text, closes the open dialog, and shows the
 * first page.
 */
export function WhitelistView({ locationId }: { locationId: string | undefined }) {
  const { may } = useKey();
  const zone = useLocation(locationId)?.timezone;
  const pages = usePages();
  const [search, setSearch] = useState<Search>({ by: 'plateNumber', term: '', onlyValid: false });
  const { dialog, open, close } = useDialog<WhitelistDialog>();
  const [shownId, setShownId] = useState(locationId);
  const isMoved = shownId !== locationId;
  if (isMoved) {
    setShownId(locationId);
    pages.restart();
    close();
  }
  const { view, entries, pageInfo } = useEntries(locationId, search, isMoved ? undefined : pages.after);
  const steps = pages.steps(pageInfo);
  useEffect(() => {
    // After the user has removed the only entry on the last page, the view shows the previous page.
    if (entries?.length === 0) steps.onPrevious?.();
  }, [entries]);
  const mayWrite = may('WRITE_WHITELIST');
  const changed = () => {
    view.reload();
    close();
  };
  return (
    <>
      <ViewHeader title={words.title} operation={view.operation}>
        <LocationChoice view="whitelist" locationId={locationId} />
        <Button onPress={() => open({ kind: 'csv' })}>{texts.csv.title}</Button>
        {mayWrite && (
          <Button look="primary" onPress={() => open({ kind: 'edit', entry: undefined })}>
            {words.add}
          </Button>
        )}
      </ViewHeader>
      <SearchForm
        search={search}
        onSearch={(next) => {
          pages.restart();
          setSearch(next);
        }}
      />
      {locationId && (
        <section className="card">
          <ViewState<unknown> view={view} isEmpty={() => entries?.length === 0} empty={words.empty}>
            {() => (
              <EntryTable
                entries={entries ?? []}
                zone={zone}
                mayWrite={mayWrite}
                onEdit={(entry) => open({ kind: 'edit', entry })}
                onRemove={(entry) => open({ kind: 'remove', entry })}
                onQuota={(referenceId) => open({ kind: 'quota', referenceId })}
              />
            )}
          </ViewState>
          <Pager {...steps} />
        </section>
      )}
      {locationId && dialog?.kind === 'edit' && (
        <EntryForm
          locationId={locationId}
          entry={dialog.entry}
          onConflict={view.reload}
          onDone={changed}
          onClose={close}
        />
      )}
      {dialog?.kind === 'remove' && (
        <EntryRemoval entry={dialog.entry} onConflict={view.reload} onDone={changed} onClose={close} />
      )}
      {locationId && dialog?.kind === 'quota' && (
        <QuotaForm
          locationId={locationId}
          referenceId={dialog.referenceId}
          mayWrite={mayWrite}
          onClose={close}
        />
      )}
      {locationId && dialog?.kind === 'csv' && (
        <CsvPanel locationId={locationId} mayWrite={mayWrite} onImported={view.reload} onClose={close} />
      )}
    </>
  );
}
