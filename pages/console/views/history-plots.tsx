/** @jsxImportSource react */
import { useMemo, useState } from 'react';
import { ToggleButton, ToggleButtonGroup } from 'react-aria-components';
import {
  type HistoryInterval,
  LocationHistoryDocument,
  type LocationHistoryQuery,
} from '../generated/operations.ts';
import { usePlotPeriod } from '../graph/use-plot-period.ts';
import { useView } from '../graph/use-view.ts';
import { texts } from '../texts.ts';
import { AsGraphql } from '../ui/as-graphql.tsx';
import type { Series } from '../ui/plot.tsx';
import { PlotCard } from '../ui/plot-card.tsx';
import { timeText, useZone } from '../ui/time.tsx';
import { ViewState } from '../ui/view-state.tsx';
import { hourlyTraffic } from './hourly-traffic.ts';

/**
 * The time ranges that the user can choose. For one time range, the gateway returns at most 750 data points of the
 * occupancy history. A request for the data points of one time range costs one or two rate limit points.
 */
const periods = {
  day: { hours: 24, interval: 'QUARTER_HOUR' },
  week: { hours: 24 * 7, interval: 'HOUR' },
  month: { hours: 24 * 31, interval: 'HOUR' },
} as const satisfies Record<string, { hours: number; interval: HistoryInterval }>;

type Period = keyof typeof periods;
type LocationHistory = NonNullable<LocationHistoryQuery['location']>;

/**
 * Two plots about a location: the occupancy as a line, and bars that show how many vehicles entered and left in each
 * hour.
 *
 * @param props.zone the time zone in which the plots show their times
 */
function Plots(props: { history: LocationHistory; zone: string; capacity: number | null }) {
  const { history, zone, capacity } = props;
  const { occupancyHistory: points, timezone } = history;
  const { location: words } = texts;
  const at = useMemo(() => points.map((point) => Date.parse(point.at) / 1000), [points]);
  const occupancy = useMemo((): Series[] => {
    const inside: Series = {
      name: words.inside,
      values: points.map(({ occupied }) => occupied),
      color: '--plot-1',
      look: 'area',
    };
    if (capacity === null) return [inside];
    return [
      inside,
      { name: words.capacity, values: points.map(() => capacity), color: '--quiet', look: 'dashes' },
    ];
  }, [points, capacity]);
  const hours = useMemo(() => hourlyTraffic(points, timezone), [points, timezone]);
  const hourStarts = useMemo(() => hours.map((hour) => hour.at / 1000), [hours]);
  const traffic = useMemo(
    (): Series[] => [
      { name: words.entries, values: hours.map(({ entries }) => entries), color: '--plot-2', look: 'bars' },
      { name: words.exits, values: hours.map(({ exits }) => exits), color: '--plot-3', look: 'bars' },
    ],
    [hours],
  );
  return (
    <div className="columns">
      <PlotCard
        title={words.occupancy}
        at={at}
        series={occupancy}
        zone={zone}
        rows={points}
        keyOf={(point) => point.at}
        columns={[
          { title: words.time, cell: (point) => timeText(point.at, zone) },
          { title: words.inside, cell: (point) => point.occupied, numeric: true },
        ]}
      />
      <PlotCard
        title={words.traffic}
        at={hourStarts}
        series={traffic}
        zone={zone}
        rows={hours}
        keyOf={(hour) => String(hour.at)}
        columns={[
          { title: words.time, cell: (hour) => timeText(hour.at, zone) },
          { title: words.entries, cell: (hour) => hour.entries, numeric: true },
          { title: words.exits, cell: (hour) => hour.exits, numeric: true },
        ]}
      />
    </div>
  );
}

/** The plots for the time range that the user has chosen. */
export function HistoryPlots(props: { id: string; zone: string | undefined; capacity: number | null }) {
  const { id, capacity } = props;
  const zone = useZone(props.zone);
  const [period, setPeriod] = useState<Period>('day');
  const { hours, interval } = periods[period];
  const range = usePlotPeriod(hours);
  const view = useView(LocationHistoryDocument, { id, interval, ...range });
  return (
    <section aria-label={texts.location.occupancy}>
      <div className="row">
        <ToggleButtonGroup
          className="toggles"
          aria-label={texts.location.period}
          selectedKeys={[period]}
          disallowEmptySelection
          onSelectionChange={([chosen]) => setPeriod(chosen as Period)}
        >
          {(Object.keys(periods) as Period[]).map((name) => (
            <ToggleButton key={name} id={name}>
              {texts.location[name]}
            </ToggleButton>
          ))}
        </ToggleButtonGroup>
        <AsGraphql operation={view.operation} />
      </div>
      <ViewState view={view}>
        {({ location }) => location && <Plots history={location} zone={zone} capacity={capacity} />}
      </ViewState>
    </section>
  );
}
