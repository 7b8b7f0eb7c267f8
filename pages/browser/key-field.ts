import { type KeyState, lookUpKey } from './graph-client.ts';

/** Where a key is kept that the user asked this device to remember. */
const storedKeyName = 'parking-gateway:key';

/** How long a user pauses before a typed key is looked up, in milliseconds. */
const typingPauseMs = 400;

/** The one field for the key, above all tabs of the explorer. */
export interface KeyField {
  current(): string;
  /** Calls back with what is known of the key: now, if anything is, and each time that it changes. */
  onChange(listener: (state: KeyState) => void): void;
}

const element = <Type extends HTMLElement>(id: string) => document.getElementById(id) as Type;

/** Takes over the field of the page. The key stays in memory unless the user asks the device to remember it. */
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
    if (key !== current()) return; // typed on meanwhile
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
  // A browser may have kept what was typed before a reload.
  if (current()) void lookUp();
  return {
    current,
    onChange(listener) {
      listeners.push(listener);
      if (known) listener(known);
    },
  };
}
