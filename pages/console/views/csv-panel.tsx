/** @jsxImportSource react */
import { useEffect, useRef, useState } from 'react';
import { DropZone, FileTrigger, ProgressBar } from 'react-aria-components';
import { useClient } from 'urql';
import { type CsvRow, entriesFile, readRows, rejectsFile, rowsOfRequest, saveFile } from '../csv.ts';
import {
  type EntryFieldsFragment,
  ExportEntriesDocument,
  type ExportEntriesQuery,
  type ImportMode,
} from '../generated/operations.ts';
import { type Failure, failureOf, isUncertain } from '../graph/failure.ts';
import { texts } from '../texts.ts';
import { Button, Choice } from '../ui/controls.tsx';
import { DataTable } from '../ui/data-table.tsx';
import { Panel } from '../ui/panel.tsx';
import { plateText } from '../ui/plate.tsx';
import { FailureNotice } from '../ui/view-state.tsx';
import { type ImportProgress, useImport } from './use-import.ts';

const { csv: words } = texts;

/**
 * The maximum number of rejected rows that the import dialog shows. The user can download a file with all rejected
 * rows.
 */
const maxShownRejects = 50;

/**
 * The import modes from which a user of the console can choose. Only the command `pms import` offers the mode REPLACE,
 * which replaces a whole whitelist.
 */
type Mode = Exclude<ImportMode, 'REPLACE'>;

function Outcome({ progress, isDryRun }: { progress: ImportProgress; isDryRun: boolean }) {
  const { rows, done, created, updated, unchanged, rejects } = progress;
  return (
    <div aria-live="polite" className="form">
      <ProgressBar value={done} maxValue={rows} aria-label={isDryRun ? words.checking : words.importing}>
        {({ percentage }) => (
          <div className="progress">
            <div ref={(bar) => bar?.style.setProperty('width', `${percentage}%`)} />
          </div>
        )}
      </ProgressBar>
      <p>
        {isDryRun ? `${words.dryRun}. ` : ''}
        {words.outcome(created, updated, unchanged, rejects.length)}
      </p>
      {rejects.length > 0 && (
        <>
          <DataTable
            label={words.rejects}
            rows={rejects.slice(0, maxShownRejects)}
            keyOf={({ row }) => String(row)}
            columns={[
              { title: words.row, cell: ({ row }) => row, numeric: true },
              { title: words.field, cell: ({ field }) => field },
              { title: words.value, cell: ({ value }) => value },
              { title: words.message, cell: ({ message }) => <span className="wrap">{message}</span> },
            ]}
          />
          <Button onPress={() => saveFile('rejected.csv', rejectsFile(rejects))}>
            {words.downloadRejects}
          </Button>
        </>
      )}
    </div>
  );
}

/** A button that saves a whole whitelist as a CSV file. The export ends without a file when the dialog closes. */
function Export({ locationId }: { locationId: string }) {
  const client = useClient();
  const isOpen = useRef(false);
  useEffect(() => {
    isOpen.current = true;
    return () => void (isOpen.current = false);
  }, []);
  const [exporting, setExporting] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  async function run() {
    setExporting(true);
    // If a client moves a plate to another whitelist entry while the export runs, the gateway can return both whitelist
    // entries with this plate. The console writes each plate to the CSV file only once, with the whitelist entry that
    // the gateway returned last.
    const entryOfPlate = new Map<string, EntryFieldsFragment>();
    for (let after: string | null = null, more = true; more;) {
      const { data, error } = await client
        .query(ExportEntriesDocument, { locationId, after }, { requestPolicy: 'network-only' })
        .toPromise();
      if (!isOpen.current) return;
      setFailure(error && failureOf(error));
      const changes: ExportEntriesQuery['whitelistChanges'] | undefined = data?.whitelistChanges;
      if (!changes) return setExporting(false);
      if (changes.reset) entryOfPlate.clear();
      for (const entry of changes.upserts) entryOfPlate.set(plateText(entry), entry);
      after = changes.cursor;
      more = changes.hasMore;
    }
    saveFile('whitelist.csv', entriesFile([...entryOfPlate.values()]));
    setExporting(false);
  }
  return (
    <>
      <FailureNotice failure={failure} />
      <Button isDisabled={exporting} onPress={() => void run()}>
        {exporting ? words.exporting : words.export}
      </Button>
    </>
  );
}

/**
 * A dialog that imports a whitelist from a CSV file, and exports a whitelist as a CSV file. Before the import, a dry
 * run shows how many whitelist entries would change and which rows would be rejected.
 */
export function CsvPanel(props: {
  locationId: string;
  mayWrite: boolean;
  onImported(): void;
  onClose(): void;
}) {
  const { locationId, mayWrite, onImported, onClose } = props;
  const [reading, setReading] = useState<Promise<CsvRow[]>>();
  const [rows, setRows] = useState<CsvRow[]>([]);
  const [mode, setMode] = useState<Mode>('CREATE');
  const [fault, setFault] = useState<string>();
  const [step, setStep] = useState<'choose' | 'checked' | 'importing' | 'stopped' | 'imported'>('choose');
  const { progress, failure, reset, run } = useImport(locationId);

  /** Starts a dry run. After this start, the dialog ignores the results of earlier dry runs. */
  async function check(started: Promise<CsvRow[]>, chosen: Mode) {
    const isCurrent = reset();
    setStep('choose');
    setFault(undefined);
    try {
      const read = await started;
      if (!isCurrent()) return;
      setRows(read);
      if (read.length === 0) setFault(words.empty);
      else if (await run(read, chosen, true)) setStep('checked');
    } catch (error) {
      if (isCurrent()) setFault(words.unreadable(error instanceof Error ? error.message : String(error)));
    }
  }

  function choose(file: Promise<File> | File | undefined) {
    if (!file) return;
    const started = Promise.resolve(file)
      .then((chosen) => chosen.arrayBuffer())
      .then(readRows);
    setReading(started);
    void check(started, mode);
  }

  async function importRows() {
    setStep('importing');
    const isComplete = await run(rows, mode, false, step === 'stopped' ? progress : undefined);
    setStep(isComplete ? 'imported' : 'stopped');
    onImported();
  }

  function changeMode(next: Mode) {
    setMode(next);
    if (reading) void check(reading, next);
  }

  // If the response to an import request is lost and the mode is UPSERT, the console can safely send the same rows
  // again.
  const uncertain =
    progress && mode === 'CREATE' && isUncertain(failure) ? rowsOfRequest(rows, progress.done) : [];
  const startText =
    progress &&
    {
      choose: undefined,
      checked: words.start(progress.rows - progress.rejects.length),
      importing: words.importing,
      stopped: words.continue(progress.rows - progress.done),
      imported: undefined,
    }[step];
  const isStartDisabled =
    step === 'importing' || (step === 'checked' && progress?.rejects.length === progress?.rows);
  return (
    <Panel title={words.title} onClose={onClose} isKept={step === 'importing' || step === 'stopped'} wide>
      {mayWrite && (
        <>
          <DropZone
            className="drop"
            isDisabled={step === 'importing'}
            onDrop={({ items }) => {
              const dropped = items.find((item) => item.kind === 'file');
              choose(dropped?.getFile());
            }}
          >
            <span slot="label">{words.drop}</span>
            <FileTrigger acceptedFileTypes={['.csv', 'text/csv']} onSelect={(files) => choose(files?.[0])}>
              <Button isDisabled={step === 'importing'}>{words.select}</Button>
            </FileTrigger>
          </DropZone>
          <Choice
            label={words.mode}
            value={mode}
            options={[
              ['CREATE', words.modes.CREATE],
              ['UPSERT', words.modes.UPSERT],
            ]}
            isDisabled={step === 'importing'}
            onChange={changeMode}
          />
          {fault && (
            <p className="notice bad" role="alert">
              {fault}
            </p>
          )}
          <FailureNotice failure={failure} />
          {progress && <Outcome progress={progress} isDryRun={step === 'choose' || step === 'checked'} />}
          {step === 'stopped' && progress && (
            <p className="notice warn">
              {words.stopped(progress.done, progress.rows)}
              {uncertain.length > 0 && ` ${words.uncertain(uncertain[0]!.row, uncertain.at(-1)!.row)}`}
            </p>
          )}
          {step === 'imported' && <p className="notice good">{words.done}</p>}
        </>
      )}
      <footer className="dialog-footer">
        <Export locationId={locationId} />
        {startText && (
          <Button look="primary" isDisabled={isStartDisabled} onPress={() => void importRows()}>
            {startText}
          </Button>
        )}
      </footer>
    </Panel>
  );
}
