// What the widget keeps in the browser: the token, the queue, and what was read.

/**
 * Store keeps values as JSON. Without a place, or if the place is full or forbidden, it keeps them in memory.
 */
export class Store {
  /** @type {Map<string, string>} */
  #memory = new Map();
  #prefix;
  #place;

  /**
   * @param {string} prefix begins each key
   * @param {string} place is "local", "session" or "none"
   */
  constructor(prefix, place) {
    this.#prefix = prefix;
    /** @type {Storage | null} */
    this.#place = null;
    try {
      if (place !== "none") this.#place = place === "session" ? sessionStorage : localStorage;
    } catch {
      // The browser forbids it.
    }
  }

  /**
   * Returns a value, or undefined.
   * @param {string} name
   * @returns {any}
   */
  get(name) {
    try {
      const text = this.#memory.get(name) ?? this.#place?.getItem(this.#prefix + name);
      return text ? JSON.parse(text) : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * Sets a value; undefined removes it.
   * @param {string} name
   * @param {any} value
   */
  set(name, value) {
    this.#memory.delete(name);
    try {
      if (value === undefined) return this.#place?.removeItem(this.#prefix + name);
      if (this.#place) return this.#place.setItem(this.#prefix + name, JSON.stringify(value));
    } catch {
      // It is full.
    }
    this.#memory.set(name, JSON.stringify(value));
  }

  /**
   * Calls a function with the name of each value that another tab changes.
   * @param {(name: string) => void} onChange
   * @param {AbortSignal} signal
   */
  watch(onChange, signal) {
    addEventListener("storage", (event) => {
      if (event.storageArea === this.#place && event.key?.startsWith(this.#prefix)) onChange(event.key.slice(this.#prefix.length));
    }, { signal });
  }
}
