/** @jsxImportSource react */
import { useMemo, useState } from 'react';
import {
  SiteHistoriesDocument,
  SiteNamesDocument,
  SitesDocument,
  SiteStatusesDocument,
  type StatusFieldsFragment,
} from '../generated/operations.ts';
import { useKey } from '../graph/key-context.tsx';
import { useLiveStatuses } from '../graph/use-live-statuses.ts';
import { usePlotPeriod } from '../graph/use-plot-period.ts';
import { useView } from '../graph/use-view.ts';
import { texts } from '../texts.ts';
import { Pager } from '../ui/data-table.tsx';
import { LiveBadge } from '../ui/live-badge.tsx';
import { LocationById } from '../ui/location-by-id.tsx';
import { type Page, pageOf, usePages } from '../ui/use-pages.ts';
import { ViewHeader } from '../ui/view-header.tsx';
import { ViewState } from '../ui/view-state.tsx';
import { type Site, SiteTile } from './site-tile.tsx';

/**
 * The number of location tiles on a page of the console. One request, which costs one rate limit point, reads the plot
 * data of all tiles on a page.
 */
const pageSize = 20;

/** The number of hours that the plot of each location shows. The plot ends at the current time. */
const plotHours = 24;

const siteOfStatus = (status: StatusFieldsFragment): Site => ({
  id: status.locationId,
  name: status.name,
  address: null,
  timezone: undefined,
  status,
});

/**
 * The view of all locations in the scope of the API key. This view of the console has a tile with live data for each
 * location.
 */
export function Sites() {
  const { may } = useKey();
  const [asTables, setAsTables] = useState(false);
  const pages = usePages();
  const page = { first: pageSize, after: pages.after };
  const named = may('READ_LOCATIONS');
  const withStatus = named && may('READ_STATUS');
  const full = useView(SitesDocument, page, { pause: !withStatus });
  const names = useView(SiteNamesDocument, page, { pause: !named || withStatus });
  const statuses = useView(SiteStatusesDocument, {}, { pause: named || !may('READ_STATUS') });
  const view = withStatus ? full : named ? names : statuses;
  const lastDay = usePlotPeriod(plotHours);
  const histories = useView(
    SiteHistoriesDocument,
    { ...page, ...lastDay },
    { pause: !named || !may('READ_ACTIVITY') },
  );
  const historyOf = new Map(histories.data?.locations?.nodes.map((node) => [node.id, node.occupancyHistory]));
  const nameList = names.data?.locations;
  const { nodes: shown, pageInfo }: Page<Site> =
    full.data?.locations ??
    (nameList && { ...nameList, nodes: nameList.nodes.map((node) => ({ ...node, status: undefined })) }) ??
    // If the API key lacks the permission READ_LOCATIONS, the console reads the statuses of all locations with one
    // request.
    pageOf((statuses.data?.locationStatuses ?? []).map(siteOfStatus), page);
  const liveState = useLiveStatuses(
    useMemo(() => shown.map(({ id }) => id), [shown.map(({ id }) => id).join()]),
  );

  return (
    <>
      <ViewHeader title={texts.sites.title} operation={view.operation}>
        <LiveBadge state={liveState} />
        <label className="check">
          <input type="checkbox" checked={asTables} onChange={(event) => setAsTables(event.target.checked)} />
          {texts.sites.tables}
        </label>
      </ViewHeader>
      {!named && !may('READ_STATUS') ? (
        <LocationById view="sites" />
      ) : (
        <ViewState<unknown>
          view={view}
          isEmpty={() => shown.length === 0 && !pages.after}
          empty={texts.sites.empty}
        >
          {() => (
            <>
              <ul className="tiles">
                {shown.map((site) => (
                  <SiteTile key={site.id} site={site} history={historyOf.get(site.id)} asTable={asTables} />
                ))}
              </ul>
              <Pager {...pages.steps(pageInfo)} />
            </>
          )}
        </ViewState>
      )}
    </>
  );
}
