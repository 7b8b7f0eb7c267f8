import { useSyncExternalStore } from 'react';

/** The views of the console, as the address names them: `#/sites`, or `#/sites/<id of a location>`. */
export const viewNames = ['sites', 'whitelist', 'why', 'key', 'webhooks', 'keys', 'audit'] as const;
export type ViewName = (typeof viewNames)[number];

/** The current place: a view and the id of the object that it shows. The address contains nothing else. */
export interface Place {
  view: ViewName;
  id: string | undefined;
}

const idForm = /^[\w-]{1,64}$/;

/** Parses the part of the address after `#`. */
function placeOf(hash: string): Place {
  const [, view = '', id = ''] = hash.split('/');
  const known = viewNames.find((name) => name === view) ?? 'sites';
  return { view: known, id: idForm.test(id) ? id : undefined };
}

/** The address of a place. */
export const addressOf = (view: ViewName, id?: string): string => `#/${view}${id ? `/${id}` : ''}`;

/** Goes to a place. */
export function goTo(view: ViewName, id?: string): void {
  location.hash = addressOf(view, id);
}

function onHashChange(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

/** The current place. */
export function usePlace(): Place {
  return placeOf(useSyncExternalStore(onHashChange, () => location.hash));
}
