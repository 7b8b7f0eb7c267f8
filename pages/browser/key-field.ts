import { type KeyState, lookUpKey } from './graph-client.ts';
import { deviceStorage, rememberedKeyName } from './storage.ts';

/** The time between the last typed character and the check of the API key, in milliseconds. */
const typingPauseMs = 400;

/**
 * If a check of the API key did not reach the gateway, the explorer waits for this time before it repeats the check, in
 * milliseconds.
 */
export const retryPauseMs = 5_000;

/**
 * The maximum number of times that the explorer automatically repeats a failed check of the API key. After `maxRetries`
 * failed repetitions, the explorer checks the API key again only when the device is online again, or when the user
 * changes the API key.
 */
export const maxRetries = 12;

/** The state of an API key that the explorer cannot check, because the gateway is unreachable. */
const unreachable: KeyState = { kind: 'refused', message: 'The gateway does not answer' };

/** The field in which the user enters the API key. All tabs of the explorer use the API key in this field. */
export interface KeyField {
  current(): string;
  /**
   * Calls the listener each time the state of the API key changes. If the explorer already knows the state of the API
   * key, `onChange` also calls the given listener at once.
   */
  onChange(listener: (state: KeyState) => void): void;
}

const element = <Type extends HTMLElement>(id: string) => document.getElementById(id) as Type;

/**
 * Adds the event handlers to the input field for the API key. The API key stays only in memory, unless the user wants
 * this device to remember the key.
 */
export function bindKeyField(): KeyField {
  const field = element<HTMLInputElement>('key');
  const remember = element<HTMLInputElement>('remember-key');
  const status = element('key-status');
  const listeners: ((state: KeyState) => void)[] = [];
  let known: KeyState | undefined;
  let pause: ReturnType<typeof setTimeout> | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let retries = 0;

  const current = () => field.value.trim();

  let stored = deviceStorage.getItem(rememberedKeyName);
  /**
   * Stores the API key on this device if the user wants the device to remember the key. If the user does not want the
   * device to remember the key, the function deletes the stored API key. If another browser tab has stored a different
   * API key since the last call, the function does not delete this other API key.
   */
  function store() {
    const next = remember.checked && current() ? current() : null;
    if (next !== null) deviceStorage.setItem(rememberedKeyName, next);
    else if (deviceStorage.getItem(rememberedKeyName) === stored) deviceStorage.removeItem(rememberedKeyName);
    stored = next;
  }

  function show(state: KeyState) {
    status.dataset.kind = state.kind;
    status.textContent =
      state.kind === 'valid' ? state.name : state.kind === 'refused' ? state.message : 'No key yet';
  }

  async function lookUp() {
    clearTimeout(retry);
    const key = current();
    const state = await lookUpKey(key).catch(() => unreachable);
    if (key !== current()) return; // the user has changed the API key, so `state` belongs to the old key
    show(state);
    known = state;
    for (const listener of listeners) listener(state);
    if (state !== unreachable || retries === maxRetries) return;
    retries += 1;
    clearTimeout(retry);
    retry = setTimeout(() => void lookUp(), retryPauseMs);
  }

  function startLookUp() {
    retries = 0;
    void lookUp();
  }

  field.addEventListener('input', () => {
    clearTimeout(pause);
    pause = setTimeout(startLookUp, typingPauseMs);
    store();
  });
  addEventListener('online', () => {
    if (known === unreachable) startLookUp();
  });
  remember.addEventListener('change', store);

  if (stored) {
    field.value = stored;
    remember.checked = true;
  }
  show({ kind: 'none' });
  // The input field for the API key can already contain a key, because some browsers restore the text of a field after
  // a reload.
  if (current()) startLookUp();
  return {
    current,
    onChange(listener) {
      listeners.push(listener);
      if (known) listener(known);
    },
  };
}
