/** @jsxImportSource react */
import { useState } from 'react';
import {
  QuotaOfDocument,
  WhyDocument,
  type WhyQuery,
  type WhyQueryVariables,
} from '../generated/operations.ts';
import { fieldMessages } from '../graph/failure.ts';
import { useLocation } from '../graph/use-locations.ts';
import { useView } from '../graph/use-view.ts';
import { texts } from '../texts.ts';
import { Badge, Button, Choice, Field } from '../ui/controls.tsx';
import { DataTable } from '../ui/data-table.tsx';
import { LocationChoice } from '../ui/location-choice.tsx';
import { Plate } from '../ui/plate.tsx';
import { instantOf, readerZone } from '../ui/time.tsx';
import { ViewHeader } from '../ui/view-header.tsx';
import { ViewState } from '../ui/view-state.tsx';
import { EntrySummary } from './entry-summary.tsx';
import { intercomSentence } from './intercom.ts';

const { why: words } = texts;

type Decision = NonNullable<WhyQuery['plateAccess']>;
type Candidate = Decision['candidates'][number];

const differencesText = ({ readAs, differences }: Candidate) =>
  [
    ...(readAs ? [words.readAs(readAs)] : []),
    ...differences.map(({ listed, read }) => words.difference(listed, read)),
  ].join('; ');

/**
 * Shows whether a vehicle may enter, a sentence for the driver, the result of each check, and similar plates in the
 * whitelist.
 */
function DecisionView({ decision, zone }: { decision: Decision; zone: string | undefined }) {
  const { allowed, reason, checks, entry, candidates } = decision;
  const quotas = useView(
    QuotaOfDocument,
    { locationId: entry?.locationId ?? '', referenceId: entry?.referenceId ?? '' },
    { pause: reason !== 'QUOTA_REACHED' },
  );
  const quota = quotas.data?.quotas?.nodes[0]?.inside;
  return (
    <div className="columns" aria-live="polite">
      <section className={`card verdict ${allowed ? '' : 'refused'}`}>
        <div className="row">
          <h2>{allowed ? words.admitted : words.refused}</h2>
          <Badge tone={allowed ? 'good' : 'bad'}>{reason}</Badge>
        </div>
        <p className="quiet">{words.say}</p>
        <blockquote>{intercomSentence(decision, { zone: zone ?? readerZone, quota })}</blockquote>
        {entry && (
          <>
            <h3>{words.entry}</h3>
            <EntrySummary entry={entry} zone={zone} />
          </>
        )}
      </section>
      <section className="card">
        <h3>{words.checks}</h3>
        <DataTable
          label={words.checks}
          rows={checks}
          keyOf={({ name }) => name}
          columns={[
            { title: words.check, cell: ({ name }) => name },
            {
              title: words.result,
              cell: ({ passed }) => (
                <Badge tone={passed ? 'good' : 'bad'}>{passed ? words.passed : words.failed}</Badge>
              ),
            },
            { title: words.detail, cell: ({ detail }) => <span className="wrap">{detail}</span> },
          ]}
        />
        {candidates.length > 0 && (
          <>
            <h3>{words.candidates}</h3>
            <DataTable
              label={words.candidates}
              rows={candidates}
              keyOf={(candidate) => candidate.entry.id}
              columns={[
                { title: texts.location.plate, cell: (candidate) => <Plate of={candidate.entry} /> },
                { title: texts.whitelist.reference, cell: (candidate) => candidate.entry.referenceId },
                {
                  title: words.detail,
                  cell: (candidate) => <span className="wrap">{differencesText(candidate)}</span>,
                },
              ]}
            />
          </>
        )}
      </section>
    </div>
  );
}

const emptyQuestion = { text: '', plateType: '', plateCode: '', plateNumber: '', at: '' };
type Question = typeof emptyQuestion;

/** The question that the user sent with the button "Ask", and the variables of the query that answers the question. */
interface Asked {
  by: 'text' | 'plate';
  question: Question;
  variables: WhyQueryVariables;
}

/**
 * The view of the console in which the user enters a plate or a camera text. The view shows the gate decision for this
 * vehicle, with the reasons. The gate decision disappears as soon as the user chooses another location, or changes an
 * input of the form, such as the plate.
 */
export function WhyView({ locationId }: { locationId: string | undefined }) {
  const [by, setBy] = useState<Asked['by']>('text');
  const [question, setQuestion] = useState(emptyQuestion);
  const [last, setLast] = useState<Asked>();
  const isSame = last?.by === by && last.question === question && last.variables.locationId === locationId;
  const asked = isSame ? last.variables : undefined;
  const zone = useLocation(locationId)?.timezone;
  const view = useView(WhyDocument, asked ?? { locationId: '' }, { pause: !asked, onlyCurrent: true });
  const errors = fieldMessages(view.failure);
  const set = (name: keyof Question) => (value: string) => setQuestion({ ...question, [name]: value });
  const { text, plateType, plateCode, plateNumber, at } = question;

  function ask() {
    if (!locationId) return;
    const what = by === 'text' ? { reading: { text } } : { plate: { plateType, plateCode, plateNumber } };
    const variables = { locationId, ...what, at: instantOf(at) ?? new Date().toISOString() };
    setLast({ by, question, variables });
  }

  return (
    <>
      <ViewHeader title={words.title} operation={asked && view.operation}>
        <LocationChoice view="why" locationId={locationId} />
      </ViewHeader>
      <p className="quiet">{words.about}</p>
      <form
        className="card row end"
        onSubmit={(event) => {
          event.preventDefault();
          ask();
        }}
      >
        <Choice
          label={words.by}
          value={by}
          options={[
            ['text', words.byText],
            ['plate', words.byPlate],
          ]}
          onChange={setBy}
        />
        {by === 'text' ? (
          <Field label={words.text} value={text} onChange={set('text')} error={errors.text} />
        ) : (
          <>
            <Field
              label={words.plateType}
              value={plateType}
              onChange={set('plateType')}
              error={errors.plateType}
            />
            <Field
              label={words.plateCode}
              value={plateCode}
              onChange={set('plateCode')}
              error={errors.plateCode}
            />
            <Field
              label={words.plateNumber}
              value={plateNumber}
              onChange={set('plateNumber')}
              error={errors.plateNumber}
            />
          </>
        )}
        <Field
          label={words.at(readerZone)}
          type="datetime-local"
          value={at}
          onChange={set('at')}
          error={errors.at}
        />
        <Button look="primary" type="submit" isDisabled={!locationId}>
          {words.ask}
        </Button>
      </form>
      {asked && (
        <ViewState view={view}>
          {({ plateAccess }) => plateAccess && <DecisionView decision={plateAccess} zone={zone} />}
        </ViewState>
      )}
    </>
  );
}
