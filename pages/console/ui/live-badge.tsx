/** @jsxImportSource react */
import type { LiveState } from '../graph/live.ts';
import { texts } from '../texts.ts';
import { Badge } from './controls.tsx';
import { Time } from './time.tsx';

/**
 * Shows the label "Live" while the view receives each change of its values immediately. If the connection is lost, the
 * label shows the time of the loss, because the view shows no changes after it.
 *
 * @param props.zone the time zone of the location that the view shows, if the view shows only one location
 */
export function LiveBadge({ state, zone }: { state: LiveState; zone?: string | undefined }) {
  return (
    <span role="status">
      {state === 'live' && <Badge tone="good">{texts.sites.live}</Badge>}
      {typeof state === 'number' && (
        <Badge tone="warn">
          <span>
            {texts.sites.notLiveSince} <Time at={new Date(state).toISOString()} zone={zone} parts="time" />
          </span>
        </Badge>
      )}
    </span>
  );
}
