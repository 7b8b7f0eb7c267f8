/** @jsxImportSource react */
import { useMemo, useState } from 'react';
import { KeyUseDocument, type KeyUseQuery } from '../generated/operations.ts';
import { useKey } from '../graph/key-context.tsx';
import { useView } from '../graph/use-view.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/controls.tsx';
import { DataTable } from '../ui/data-table.tsx';
import type { Series } from '../ui/plot.tsx';
import { PlotCard } from '../ui/plot-card.tsx';
import { readerZone, Time, timeText } from '../ui/time.tsx';
import { ViewHeader } from '../ui/view-header.tsx';
import { ViewState } from '../ui/view-state.tsx';

const { myKey: words } = texts;

const hourMs = 3_600_000;
const shownHours = 24;

type Use = NonNullable<KeyUseQuery['viewer']>;

/** Returns the numbers of requests in each of the last 24 hours, including the hours without requests. */
function byHour(usage: Use['usage'], to: number) {
  const last = Math.floor(to / hourMs) * hourMs;
  const hours = Array.from({ length: shownHours }, (_, index) => ({
    at: last - (shownHours - 1 - index) * hourMs,
    rest: 0,
    graph: 0,
    errors: 0,
    refused: 0,
  }));
  const hourAt = new Map(hours.map((hour) => [hour.at, hour]));
  for (const { hour, surface, requests, errors, refused } of usage) {
    const sums = hourAt.get(Date.parse(hour));
    if (!sums) continue;
    sums[surface === 'rest' ? 'rest' : 'graph'] += requests;
    sums.errors += errors;
    sums.refused += refused;
  }
  return hours;
}

/** A plot of the numbers of REST requests, GraphQL requests, errors and rejected requests in each hour. */
function Requests({ usage, to }: { usage: Use['usage']; to: string }) {
  const hours = useMemo(() => byHour(usage, Date.parse(to)), [usage, to]);
  const at = useMemo(() => hours.map((hour) => hour.at / 1000), [hours]);
  const series = useMemo(
    (): Series[] => [
      { name: words.graph, values: hours.map(({ graph }) => graph), color: '--plot-1', look: 'area' },
      { name: words.rest, values: hours.map(({ rest }) => rest), color: '--plot-2' },
      { name: words.errors, values: hours.map(({ errors }) => errors), color: '--bad' },
      { name: words.refused, values: hours.map(({ refused }) => refused), color: '--plot-3' },
    ],
    [hours],
  );
  return (
    <PlotCard
      title={words.requests}
      at={at}
      series={series}
      zone={readerZone}
      rows={hours}
      keyOf={(hour) => String(hour.at)}
      columns={[
        { title: words.hour, cell: (hour) => timeText(hour.at, readerZone) },
        { title: words.graph, cell: ({ graph }) => graph, numeric: true },
        { title: words.rest, cell: ({ rest }) => rest, numeric: true },
        { title: words.errors, cell: ({ errors }) => errors, numeric: true },
        { title: words.refused, cell: ({ refused }) => refused, numeric: true },
      ]}
    />
  );
}

function Limits({ windows }: { windows: Use['rateLimit'] }) {
  return (
    <section className="card">
      <h2>{words.limits}</h2>
      {windows.map(({ name, remaining, limit }) => {
        const text = words.remaining(remaining, limit, words.windows[name] ?? name);
        return (
          <div key={name}>
            <p className="quiet">{text}</p>
            <meter min={0} max={limit} low={limit * 0.1} value={remaining} aria-label={text} />
          </div>
        );
      })}
    </section>
  );
}

function Deprecations({ uses }: { uses: Use['deprecations'] }) {
  return (
    <section className="card">
      <h2>{words.deprecated}</h2>
      {uses.length === 0 ? (
        <p className="quiet">{words.noDeprecated}</p>
      ) : (
        <DataTable
          label={words.deprecated}
          rows={uses}
          keyOf={({ operation }) => operation}
          columns={[
            { title: words.operation, cell: ({ operation }) => <code>{operation}</code> },
            { title: words.uses, cell: ({ requests }) => requests, numeric: true },
            { title: words.removedAt, cell: ({ removedAt }) => <Time at={removedAt} /> },
            {
              title: words.replacement,
              cell: ({ replacement }) => <code className="wrap">{replacement}</code>,
            },
          ]}
        />
      )}
    </section>
  );
}

/** The view of the user's own API key, with the permissions, the usage and the remaining rate limits of the key. */
export function MyKey() {
  const { viewer } = useKey();
  const [now, setNow] = useState(() => Date.now());
  const period = useMemo(
    () => ({
      from: new Date(now - (shownHours - 1) * hourMs).toISOString(),
      to: new Date(now).toISOString(),
    }),
    [now],
  );
  const view = useView(KeyUseDocument, period);
  return (
    <>
      <ViewHeader title={words.title} operation={view.operation}>
        <Button onPress={() => setNow(Date.now())}>{words.refresh}</Button>
      </ViewHeader>
      <section className="card form">
        <h2>
          {viewer.name} <code>{viewer.hint}</code>
        </h2>
        <h3>{words.permissions}</h3>
        <ul className="list">
          {viewer.permissions.map((permission) => (
            <li key={permission}>
              <code>{permission}</code>
            </li>
          ))}
        </ul>
        <p className="quiet">
          {words.expires}: <Time at={viewer.expiresAt} />
        </p>
      </section>
      <ViewState view={view}>
        {({ viewer: use }) =>
          use && (
            <>
              <Limits windows={use.rateLimit} />
              <Requests usage={use.usage} to={period.to} />
              <Deprecations uses={use.deprecations} />
            </>
          )
        }
      </ViewState>
    </>
  );
}
