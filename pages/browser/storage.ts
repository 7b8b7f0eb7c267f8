/** Creates a storage that keeps texts only until the page is closed. */
function createMemory(): Storage {
  const texts = new Map<string, string>();
  return {
    get length() {
      return texts.size;
    },
    clear: () => texts.clear(),
    getItem: (name) => texts.get(name) ?? null,
    key: (index) => [...texts.keys()][index] ?? null,
    removeItem: (name) => void texts.delete(name),
    setItem: (name, text) => void texts.set(name, text),
  };
}

/**
 * Returns the local storage or the session storage of the browser. If the user has forbidden sites to store data, the
 * browser denies access to the local storage and the session storage, and the function returns a storage in memory.
 */
function open(area: 'localStorage' | 'sessionStorage'): Storage {
  try {
    return globalThis[area];
  } catch {
    return createMemory();
  }
}

/** The storage that all tabs of the browser share, and that the browser keeps after the tabs are closed. */
export const deviceStorage = open('localStorage');

/**
 * The name of the local storage item for an API key that the device remembers. The explorer and the console store the
 * remembered API key in the same local storage item.
 */
export const rememberedKeyName = 'parking-gateway:key';

/** The storage of a single tab, which the browser deletes when the tab is closed. */
export const tabStorage = open('sessionStorage');
