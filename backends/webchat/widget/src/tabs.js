// One tab follows the stream for all tabs of a visitor: a browser opens only six connections to a server.

/**
 * Waits for a lock, and holds it until a function ends. Without locks, as in old browsers, the function just runs.
 * @template T
 * @param {string} name
 * @param {AbortSignal} signal ends the wait
 * @param {() => Promise<T>} run
 * @returns {Promise<T>}
 */
export const locked = (name, signal, run) => (navigator.locks ? navigator.locks.request(name, { signal }, run) : run());

/**
 * Connects the tabs with this name. hear gets the values that the leading tab sends. The result has functions to send
 * a value to the other tabs, and to become the leader as soon as there is no other.
 * @param {string} name
 * @param {(value: any) => void} hear
 * @param {AbortSignal} signal
 */
export const joinTabs = (name, hear, signal) => {
  const others = new BroadcastChannel(name);
  others.addEventListener("message", (event) => hear(event.data));
  signal.addEventListener("abort", () => others.close());
  return {
    /** @param {any} value */
    tell: (value) => { if (!signal.aborted) others.postMessage(value); },
    /** @param {() => Promise<void>} run */
    lead: (run) => locked(name, signal, run).catch(() => {}), // The wait ends with the signal.
  };
};
