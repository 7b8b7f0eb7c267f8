/** @jsxImportSource react */
import { useEffect, useMemo, useRef, useState } from 'react';
import { LocationActivityDocument, LocationNameDocument } from '../generated/operations.ts';
import { useKey } from '../graph/key-context.tsx';
import { useLiveStatuses } from '../graph/use-live-statuses.ts';
import { useView } from '../graph/use-view.ts';
import { addressOf } from '../navigation.ts';
import { texts } from '../texts.ts';
import { LiveBadge } from '../ui/live-badge.tsx';
import { usePages } from '../ui/use-pages.ts';
import { ViewHeader } from '../ui/view-header.tsx';
import { Permitted, ViewState } from '../ui/view-state.tsx';
import type { StatusFieldsFragment } from '../generated/operations.ts';
import { Events, Sessions } from './activity-tables.tsx';
import { HistoryPlots } from './history-plots.tsx';
import { Fullness, StateBadge } from './site-tile.tsx';

/**
 * The minimum time between two requests with which the console reads parking events and parking sessions, in
 * milliseconds. A request for parking events and parking sessions costs one rate limit point.
 */
const activityPauseMs = 60_000;

/**
 * Returns a function that calls `callback` at most once a minute, even if the caller calls the returned function more
 * often (throttling).
 */
function useAfterPause(callback: () => void): () => void {
  const last = useRef(Date.now());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(callback);
  latest.current = callback;
  useEffect(() => () => clearTimeout(timer.current), []);
  return () => {
    if (timer.current) return;
    const waitMs = Math.max(0, last.current + activityPauseMs - Date.now());
    timer.current = setTimeout(() => {
      timer.current = undefined;
      last.current = Date.now();
      latest.current();
    }, waitMs);
  };
}

/**
 * Shows the parking events and parking sessions of a location. When the status of the location changes, the function
 * reads the parking events and parking sessions again. If the API key lacks the permission READ_STATUS, the gateway
 * does not tell the console when the status of the location changes. Without this permission, the function reads the
 * parking events and parking sessions again every minute.
 */
function Activity({ id, zone, changes }: { id: string; zone: string | undefined; changes: number }) {
  const { may } = useKey();
  const [onlyInside, setOnlyInside] = useState(true);
  const pages = usePages();
  const view = useView(LocationActivityDocument, {
    id,
    open: onlyInside ? true : null,
    sessionsAfter: pages.after,
  });
  const readAgain = useAfterPause(view.reload);
  useEffect(() => {
    if (changes > 0) readAgain();
  }, [changes]);
  const { reload, failure } = view;
  // After a rate limit error, the hook `useView` itself reads the data again as soon as the rate limit allows it.
  const isPolled = !may('READ_STATUS') && failure?.kind !== 'rate-limit';
  useEffect(() => {
    if (!isPolled) return undefined;
    const timer = setInterval(reload, activityPauseMs);
    return () => clearInterval(timer);
  }, [isPolled, reload]);
  return (
    <ViewState view={view}>
      {({ parkingSessions, parkingEvents }) => (
        <div className="columns">
          <Sessions
            sessions={parkingSessions?.nodes ?? []}
            zone={zone}
            onlyInside={onlyInside}
            onFilter={(only) => {
              pages.restart();
              setOnlyInside(only);
            }}
            steps={pages.steps(parkingSessions?.pageInfo)}
            operation={view.operation}
          />
          <Events events={parkingEvents?.nodes ?? []} zone={zone} operation={view.operation} />
        </div>
      )}
    </ViewState>
  );
}

/**
 * The view of a location in the console. The view shows the current and past occupancy of the location, the vehicles
 * inside, and the latest parking events.
 */
export function LocationView({ id }: { id: string }) {
  const { may } = useKey();
  const named = useView(LocationNameDocument, { id }, { pause: !may('READ_LOCATIONS') });
  const [status, setStatus] = useState<StatusFieldsFragment>();
  const [changes, setChanges] = useState(0);
  const ids = useMemo(() => [id], [id]);
  const isFirst = useRef(true);
  const liveState = useLiveStatuses(ids, (next) => {
    setStatus(next);
    if (!isFirst.current) setChanges((count) => count + 1);
    isFirst.current = false;
  });
  const location = named.data?.location;
  const zone = location?.timezone;
  return (
    <>
      <a className="back" href={addressOf('sites')}>
        ← {texts.location.back}
      </a>
      <ViewHeader title={location?.name ?? status?.name ?? id} operation={named.operation}>
        <LiveBadge state={liveState} zone={zone} />
        {may('READ_WHITELIST') && (
          <a className="button plain" href={addressOf('whitelist', id)}>
            {texts.location.whitelist}
          </a>
        )}
        {may('READ_WHITELIST') && (
          <a className="button plain" href={addressOf('why', id)}>
            {texts.location.why}
          </a>
        )}
      </ViewHeader>
      {may('READ_LOCATIONS') && <ViewState view={named}>{() => null}</ViewState>}
      {status && (
        <section className="card summary" aria-label={texts.sites.title}>
          <div>
            <Fullness status={status} />
          </div>
          <div>
            <StateBadge status={status} />
            <p className="quiet">{location?.address}</p>
            <p className="quiet">{zone}</p>
          </div>
        </section>
      )}
      <Permitted need={['READ_ACTIVITY']}>
        {may('READ_LOCATIONS') && <HistoryPlots id={id} zone={zone} capacity={location?.capacity ?? null} />}
        <Activity id={id} zone={zone} changes={changes} />
      </Permitted>
    </>
  );
}
