import { useEffect, useSyncExternalStore } from 'react';

/**
 * The names of the views of the console. The address of the page contains the name of the view that the console shows,
 * for example `#/sites` or `#/sites/<id of a location>`.
 */
export const viewNames = ['sites', 'whitelist', 'why', 'key', 'webhooks', 'keys', 'audit'] as const;
export type ViewName = (typeof viewNames)[number];

/**
 * The view that the console shows, and the id of the object that the view shows, such as a location. The page's address
 * contains the name of the view and the id of the object.
 */
export interface Place {
  view: ViewName;
  id: string | undefined;
}

const idForm = /^[\w-]{1,64}$/;

/** Reads the name of the view, and the id of the object that the view shows, from the part of the address after `#`. */
function placeOf(hash: string): Place {
  const [, view = '', id = ''] = hash.split('/');
  const known = viewNames.find((name) => name === view) ?? 'sites';
  return { view: known, id: idForm.test(id) ? id : undefined };
}

/** Returns the fragment of the page address that opens a view of the console, such as `#/whitelist`. */
export const addressOf = (view: ViewName, id?: string): string => `#/${view}${id ? `/${id}` : ''}`;

/**
 * Opens a view of the console by changing the address of the page.
 *
 * @param options.replace if true, the address of the view replaces the current address in the history of the browser,
 *   so that the back button does not return to the current address
 */
export function goTo(view: ViewName, id?: string, { replace = false } = {}): void {
  if (replace) location.replace(addressOf(view, id));
  else location.hash = addressOf(view, id);
}

function onHashChange(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

/** Returns the view that the console shows now, and the id of the object that the view shows. */
export function usePlace(): Place {
  return placeOf(useSyncExternalStore(onHashChange, () => location.hash));
}

/**
 * Prevents the user from leaving the current view by mistake while `isKept` is true. When the user goes back or forward
 * in the browser history, the page changes the address back, and the current view stays open. When the user closes or
 * reloads the page, the browser asks for a confirmation.
 */
export function useKeptView(isKept: boolean): void {
  useEffect(() => {
    if (!isKept) return;
    const { href } = location;
    // The browser sends the event `popstate` before the event `hashchange`. At the event `popstate`, the function
    // `stay` must restore the address. Without the restored address, the event `hashchange` would open the view to
    // which the user went back or forward.
    const stay = () => history.pushState(null, '', href);
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('popstate', stay);
    addEventListener('beforeunload', ask);
    return () => {
      removeEventListener('popstate', stay);
      removeEventListener('beforeunload', ask);
    };
  }, [isKept]);
}
