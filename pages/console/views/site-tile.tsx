/** @jsxImportSource react */
import { useMemo } from 'react';
import type { LocationFieldsFragment, StatusFieldsFragment } from '../generated/operations.ts';
import { addressOf } from '../navigation.ts';
import { texts } from '../texts.ts';
import { Badge } from '../ui/controls.tsx';
import { DataTable } from '../ui/data-table.tsx';
import { Plot } from '../ui/plot.tsx';
import { Time, timeText, useZone } from '../ui/time.tsx';

/** The data that the tile of a location shows. */
export interface Site extends Pick<LocationFieldsFragment, 'id' | 'name' | 'address'> {
  timezone: string | undefined;
  status: StatusFieldsFragment | undefined;
}

/** The occupancy of a location at several times in the last 24 hours. */
export type ShortHistory = readonly { at: string; occupied: number }[];

/** A location counts as nearly full when 90 % or more of its capacity is occupied. */
const nearlyFullShare = 0.9;

const isNearlyFull = ({ state, capacity, occupied }: StatusFieldsFragment) =>
  state === 'AVAILABLE' && capacity !== null && occupied >= capacity * nearlyFullShare;

/** A label that shows whether a location has free places, is nearly full, or is full. */
export function StateBadge({ status }: { status: StatusFieldsFragment }) {
  if (isNearlyFull(status)) return <Badge tone="warn">{texts.sites.nearlyFull}</Badge>;
  const tone = { AVAILABLE: 'good', FULL: 'bad', UNKNOWN: 'quiet' } as const;
  return <Badge tone={tone[status.state]}>{texts.sites.states[status.state]}</Badge>;
}

/** A bar that shows how much of a location's capacity is occupied. */
export function Fullness({ status }: { status: StatusFieldsFragment }) {
  const { occupied, capacity, available } = status;
  return (
    <>
      <p className="figure">
        <strong>{occupied}</strong>
        {capacity !== null && <span> / {capacity}</span>}
      </p>
      {capacity !== null && (
        <meter
          min={0}
          max={capacity || 1}
          high={capacity * nearlyFullShare}
          value={Math.min(occupied, capacity)}
          aria-label={texts.sites.occupied(occupied, capacity)}
        />
      )}
      <p className="quiet">{texts.sites.free(available)}</p>
    </>
  );
}

function ShortPlot({
  name,
  history,
  zone,
  asTable,
}: {
  name: string;
  history: ShortHistory;
  zone: string;
  asTable: boolean;
}) {
  const at = useMemo(() => history.map((point) => Date.parse(point.at) / 1000), [history]);
  const series = useMemo(
    () => [
      {
        name: texts.location.inside,
        values: history.map(({ occupied }) => occupied),
        color: '--plot-1' as const,
        look: 'area' as const,
      },
    ],
    [history],
  );
  const label = texts.sites.plotOf(name);
  if (!asTable) return <Plot label={label} at={at} series={series} zone={zone} height={56} small />;
  return (
    <DataTable
      label={label}
      rows={history}
      keyOf={(point) => point.at}
      columns={[
        { title: texts.location.time, cell: (point) => timeText(point.at, zone) },
        { title: texts.location.inside, cell: (point) => point.occupied, numeric: true },
      ]}
    />
  );
}

/** The tile of a location in the view of all locations. */
export function SiteTile(props: { site: Site; history: ShortHistory | undefined; asTable: boolean }) {
  const { site, history, asTable } = props;
  const { id, name, address, timezone, status } = site;
  const zone = useZone(timezone);
  return (
    <li className="tile card">
      <header>
        <h2>
          <a href={addressOf('sites', id)}>{name}</a>
        </h2>
        {status && <StateBadge status={status} />}
      </header>
      {address && <p className="quiet">{address}</p>}
      {status && <Fullness status={status} />}
      {history && history.length > 0 && (
        <>
          <ShortPlot name={name} history={history} zone={zone} asTable={asTable} />
          <p className="caption">{texts.sites.lastDay}</p>
        </>
      )}
      {status && (
        <p className="quiet tile-foot">
          <span>{texts.sites.listed(status.whitelistedVehicles)}</span>
          <span>
            {texts.sites.lastActivity}: <Time at={status.lastActivityAt} zone={timezone} />
          </span>
        </p>
      )}
    </li>
  );
}
