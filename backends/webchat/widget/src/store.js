// The widget's data in the browser: the token, the queue, and the number of the last message read.

/**
 * Store stores values as JSON in the browser. If its place is none, full or forbidden, it stores them in memory.
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
      // The browser does not allow storage.
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
      // The storage is full.
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
