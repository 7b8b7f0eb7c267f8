/** @jsxImportSource react */
import { lazy, Suspense, useState } from 'react';
import type { Permission } from './generated/operations.ts';
import { useKey } from './graph/key-context.tsx';
import { addressOf, type Place, usePlace, type ViewName, viewNames } from './navigation.ts';
import { texts } from './texts.ts';
import { Button } from './ui/controls.tsx';
import { ViewBoundary } from './ui/view-boundary.tsx';
import { type Clock, ClockContext } from './ui/time.tsx';
import { Sites } from './views/sites.tsx';

const LocationView = lazy(async () => ({ default: (await import('./views/location.tsx')).LocationView }));
const WhitelistView = lazy(async () => ({ default: (await import('./views/whitelist.tsx')).WhitelistView }));
const WhyView = lazy(async () => ({ default: (await import('./views/why.tsx')).WhyView }));
const MyKey = lazy(async () => ({ default: (await import('./views/my-key.tsx')).MyKey }));
const WebhooksView = lazy(async () => ({ default: (await import('./views/webhooks.tsx')).WebhooksView }));
const KeysView = lazy(async () => ({ default: (await import('./views/keys.tsx')).KeysView }));
const AuditView = lazy(async () => ({ default: (await import('./views/audit.tsx')).AuditView }));

/**
 * Lists, for each view, the permissions with which an API key can open the view. To open a view, an API key needs only
 * one of the permissions that are listed for the view. If no permission is listed for a view, every API key can open
 * the view.
 */
const permissionsOf: Record<ViewName, readonly Permission[]> = {
  sites: ['READ_LOCATIONS', 'READ_STATUS', 'READ_ACTIVITY'],
  whitelist: ['READ_WHITELIST'],
  why: ['READ_WHITELIST'],
  key: [],
  webhooks: ['MANAGE_WEBHOOKS'],
  keys: ['ADMIN'],
  audit: ['ADMIN'],
};

function viewOf({ view, id }: Place) {
  if (view === 'sites') return id ? <LocationView key={id} id={id} /> : <Sites />;
  if (view === 'whitelist') return <WhitelistView locationId={id} />;
  if (view === 'why') return <WhyView locationId={id} />;
  if (view === 'key') return <MyKey />;
  if (view === 'webhooks') return <WebhooksView id={id} />;
  return view === 'keys' ? <KeysView /> : <AuditView />;
}

/**
 * Returns the React key of a view. When the React key changes, React creates a new view with empty forms. The view
 * `whitelist` has the same React key for all locations, and so has the view `why`. The user can therefore choose
 * another location without losing typed texts.
 */
const keyOf = ({ view, id }: Place) =>
  view === 'whitelist' || view === 'why' ? view : `${view}/${id ?? ''}`;

/** The frame around each view of the console, with the navigation and the name of the API key. */
export function Shell() {
  const { viewer, may, leave } = useKey();
  const place = usePlace();
  const [clock, setClock] = useState<Clock>('location');
  const shown = viewNames.filter(
    (name) => permissionsOf[name].length === 0 || permissionsOf[name].some((permission) => may(permission)),
  );
  const open = shown.includes(place.view) ? place : { view: shown[0]!, id: undefined };
  return (
    <ClockContext value={clock}>
      <div className="console">
        <nav className="views" aria-label={texts.views.label}>
          <ul>
            {shown.map((name) => (
              <li key={name}>
                <a href={addressOf(name)} aria-current={name === open.view ? 'page' : undefined}>
                  {texts.views[name]}
                </a>
              </li>
            ))}
          </ul>
          <div className="session">
            <span className="session-name" title={viewer.name}>
              {viewer.name}
            </span>
            <label className="clock">
              {texts.state.zone}{' '}
              <select value={clock} onChange={(event) => setClock(event.target.value as Clock)}>
                <option value="location">{texts.state.zoneOfLocation}</option>
                <option value="reader">{texts.state.zoneOfReader}</option>
              </select>
            </label>
            <Button look="quiet" onPress={leave}>
              {texts.key.leave}
            </Button>
          </div>
        </nav>
        <main id="content" className="view" tabIndex={-1}>
          <ViewBoundary key={keyOf(open)}>
            <Suspense
              fallback={
                <p className="loading" role="status">
                  {texts.state.loading}
                </p>
              }
            >
              {viewOf(open)}
            </Suspense>
          </ViewBoundary>
        </main>
      </div>
    </ClockContext>
  );
}
