import { useSyncExternalStore } from 'react';

/** The names of the views in the address of the page: `#/sites`, or `#/sites/<id of a location>`. */
export const viewNames = ['sites', 'whitelist', 'why', 'key', 'webhooks', 'keys', 'audit'] as const;
export type ViewName = (typeof viewNames)[number];

/** The current view, and the id of the object that it shows. The address of the page contains both. */
export interface Place {
  view: ViewName;
  id: string | undefined;
}

const idForm = /^[\w-]{1,64}$/;

/** Finds the view and the id in the part of the address after `#`. */
function placeOf(hash: string): Place {
  const [, view = '', id = ''] = hash.split('/');
  const known = viewNames.find((name) => name === view) ?? 'sites';
  return { view: known, id: idForm.test(id) ? id : undefined };
}

/** Returns the address of a view of the console. */
export const addressOf = (view: ViewName, id?: string): string => `#/${view}${id ? `/${id}` : ''}`;

/** Opens a view by changing the page address. */
export function goTo(view: ViewName, id?: string): void {
  location.hash = addressOf(view, id);
}

function onHashChange(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

/** Returns the current view and the id of its object. */
export function usePlace(): Place {
  return placeOf(useSyncExternalStore(onHashChange, () => location.hash));
}
