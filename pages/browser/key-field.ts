import { type KeyState, lookUpKey } from './graph-client.ts';

/** The name of the storage item for the API key, if the user wants this device to remember it. */
const storedKeyName = 'parking-gateway:key';

/** How long a user must stop typing before the API key is checked, in milliseconds. */
const typingPauseMs = 400;

/** The field for the API key. All tabs of the explorer share this field. */
export interface KeyField {
  current(): string;
  /** Calls a listener with the state of the API key, now if it is known, and after each change. */
  onChange(listener: (state: KeyState) => void): void;
}

const element = <Type extends HTMLElement>(id: string) => document.getElementById(id) as Type;

/**
 * Connects the key field of the page. The API key stays in memory, unless the user wants this device to remember it.
 */
export function bindKeyField(): KeyField {
  const field = element<HTMLInputElement>('key');
  const remember = element<HTMLInputElement>('remember-key');
  const status = element('key-status');
  const listeners: ((state: KeyState) => void)[] = [];
  let known: KeyState | undefined;
  let pause: ReturnType<typeof setTimeout> | undefined;

  const current = () => field.value.trim();

  function store() {
    if (remember.checked && current()) localStorage.setItem(storedKeyName, current());
    else localStorage.removeItem(storedKeyName);
  }

  function show(state: KeyState) {
    status.dataset.kind = state.kind;
    status.textContent =
      state.kind === 'valid' ? state.name : state.kind === 'refused' ? state.message : 'No key yet';
  }

  async function lookUp() {
    const key = current();
    const state = await lookUpKey(key).catch((): KeyState => ({
      kind: 'refused',
      message: 'The gateway does not answer',
    }));
    if (key !== current()) return; // the user has changed the key meanwhile, so the result is out of date
    show(state);
    known = state;
    for (const listener of listeners) listener(state);
  }

  field.addEventListener('input', () => {
    clearTimeout(pause);
    pause = setTimeout(() => void lookUp(), typingPauseMs);
    store();
  });
  remember.addEventListener('change', store);

  const stored = localStorage.getItem(storedKeyName);
  if (stored) {
    field.value = stored;
    remember.checked = true;
  }
  show({ kind: 'none' });
  // After a reload, a browser can restore the text in the field.
  if (current()) void lookUp();
  return {
    current,
    onChange(listener) {
      listeners.push(listener);
      if (known) listener(known);
    },
  };
}
