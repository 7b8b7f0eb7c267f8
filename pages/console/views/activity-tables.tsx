/** @jsxImportSource react */
import type { EventFieldsFragment, SessionFieldsFragment } from '../generated/operations.ts';
import type { ShownOperation } from '../graph/use-view.ts';
import { texts } from '../texts.ts';
import { AsGraphql } from '../ui/as-graphql.tsx';
import { Badge } from '../ui/controls.tsx';
import { DataTable, Pager } from '../ui/data-table.tsx';
import { Plate } from '../ui/plate.tsx';
import { Time } from '../ui/time.tsx';

const { location: words } = texts;

const toneOf = {
  OPEN: 'good',
  COMPLETED: 'quiet',
  MISSED_EXIT: 'warn',
  MISSED_ENTRY: 'warn',
  UNSEEN_EXIT: 'warn',
  CORRECTED: 'warn',
} as const;

/**
 * A table with the parking sessions at a location. The user chooses between the vehicles that are inside now and all
 * vehicles.
 */
export function Sessions(props: {
  sessions: readonly SessionFieldsFragment[];
  zone: string | undefined;
  onlyInside: boolean;
  onFilter(onlyInside: boolean): void;
  steps: Parameters<typeof Pager>[0];
  operation: ShownOperation;
}) {
  const { sessions, zone, onlyInside, onFilter, steps, operation } = props;
  return (
    <section className="card">
      <div className="row">
        <h2>{words.sessions}</h2>
        <label className="check">
          <input type="checkbox" checked={onlyInside} onChange={(event) => onFilter(event.target.checked)} />
          {words.onlyInside}
        </label>
        <AsGraphql operation={operation} />
      </div>
      {sessions.length === 0 ? (
        <p className="empty">{words.noSessions}</p>
      ) : (
        <DataTable
          label={words.sessions}
          rows={sessions}
          keyOf={({ id }) => id}
          columns={[
            { title: words.plate, cell: (session) => <Plate of={session} /> },
            {
              title: words.state,
              cell: ({ state }) => <Badge tone={toneOf[state]}>{words.sessionStates[state]}</Badge>,
            },
            {
              title: words.entered,
              cell: ({ enteredAt, countedAt }) => <Time at={enteredAt ?? countedAt} zone={zone} />,
            },
            {
              title: words.left,
              cell: ({ exitedAt }) => (exitedAt ? <Time at={exitedAt} zone={zone} /> : '–'),
            },
          ]}
        />
      )}
      <Pager {...steps} />
    </section>
  );
}

/** A table with the latest parking events at a location. */
export function Events(props: {
  events: readonly EventFieldsFragment[];
  zone: string | undefined;
  operation: ShownOperation;
}) {
  const { events, zone } = props;
  return (
    <section className="card" aria-live="polite">
      <h2>{words.events}</h2>
      {events.length === 0 ? (
        <p className="empty">{words.noEvents}</p>
      ) : (
        <DataTable
          label={words.events}
          rows={events}
          keyOf={({ id }) => id}
          columns={[
            { title: words.time, cell: ({ occurredAt }) => <Time at={occurredAt} zone={zone} /> },
            { title: words.event, cell: ({ kind }) => words.kinds[kind] },
            { title: words.plate, cell: (event) => <Plate of={event} /> },
            {
              title: words.state,
              cell: ({ listed, decision, overQuota }) => (
                <>
                  <Badge tone={listed ? 'good' : 'bad'}>
                    {listed ? words.listed : words.refusals[decision ?? 'NOT_LISTED']}
                  </Badge>
                  {overQuota && <Badge tone="warn">{words.overQuota}</Badge>}
                </>
              ),
            },
          ]}
        />
      )}
    </section>
  );
}
