// The stream of events: its parser, and the loop that keeps a stream open.

/** longestEvent is the longest event, in characters. */
const longestEvent = 1 << 20;

/**
 * deadAfter is the time without a byte after which a stream is closed, in milliseconds. The server sends a comment
 * every 15 s.
 */
const deadAfter = 45_000;

/** longestWait is the longest wait between two attempts, in milliseconds. */
const longestWait = 30_000;

/** silentStreams is the number of consecutive streams without a byte after which the widget polls. */
const silentStreams = 2;

/** pollSeconds is the time for which the server may delay the answer to a poll. */
const pollSeconds = 25;

/**
 * Returns a parser of text/event-stream. Call it with the pieces of the text, which may be cut anywhere.
 * @param {(data: string) => void} onData is called with the data of each event
 * @param {(milliseconds: number) => void} [onRetry] is called with the wait before the next attempt, if the server sends one
 * @returns {(text: string) => void} throws if an event is longer than 1 MB
 */
export const eventParser = (onData, onRetry) => {
  let rest = "", endsInReturn = false;
  /** @type {string[]} */
  let data = [];
  let size = 0;
  /** @param {string} line */
  const take = (line) => {
    if (line === "") {
      if (data.length > 0) onData(data.join("\n"));
      data = [];
      size = 0;
      return;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") {
      data.push(value);
      size += value.length;
    } else if (field === "retry" && /^\d{1,6}$/.test(value)) onRetry?.(Number(value));
  };
  return (text) => {
    if (text === "") return;
    const lines = (endsInReturn && text[0] === "\n" ? text.slice(1) : text).split(/\r\n|\r|\n/);
    endsInReturn = text.endsWith("\r");
    lines[0] = rest + lines[0];
    rest = lines.pop() ?? "";
    lines.forEach(take);
    if (rest.length + size > longestEvent) throw new Error("an event of the stream is longer than 1 MB");
  };
};

/**
 * Returns the event in the data of a stream, or null if it is not an object with a kind.
 * @param {string} data
 * @returns {any}
 */
export const parsed = (data) => {
  try {
    const event = JSON.parse(data);
    return typeof event?.kind === "string" ? event : null;
  } catch {
    return null;
  }
};

/**
 * Returns the wait before an attempt, in milliseconds: 1, 2, 4 ... 30 s or what the server asks for, whichever is
 * longer, and a random part of up to a quarter, so that pages do not all come back at the same moment.
 * @param {number} failures is the number of consecutive failures
 * @param {number} [asked] is the wait that the server asks for
 */
export const backOff = (failures, asked = 0) =>
  Math.max(asked, Math.min(longestWait, 1000 * 2 ** Math.max(0, failures - 1))) * (1 + Math.random() / 4);

/**
 * Waits. It ends early if the network comes back or the signal is aborted.
 * @param {number} milliseconds
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
export const pause = (milliseconds, signal) => new Promise((resolve) => {
  const end = () => {
    clearTimeout(timer);
    removeEventListener("online", end);
    signal.removeEventListener("abort", end);
    resolve();
  };
  const timer = setTimeout(end, milliseconds);
  addEventListener("online", end);
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
});

/**
 * @typedef {object} Following
 * @property {(query: string, signal: AbortSignal) => Promise<Response>} open requests the stream; it throws an
 *   error with a status, and with retryAfter in milliseconds, if the server refuses
 * @property {() => number} after returns the number of the last message
 * @property {(event: any) => void} onEvent
 * @property {(state: "online" | "offline" | "refused") => void} onState
 * @property {AbortSignal} signal stops following
 * @property {(milliseconds: number, signal: AbortSignal) => Promise<void>} [wait]
 * @property {number} [silence] is the longest wait for the first byte of a stream, in milliseconds
 */

/**
 * Keeps a stream open until the signal is aborted or the server refuses permanently. After a break it resumes after
 * the last message. If streams stay silent, for example because a proxy buffers them, it polls instead.
 * @param {Following} of
 */
export const follow = async ({ open, after, onEvent, onState, signal, wait = pause, silence = 10_000 }) => {
  let silent = 0, failures = 0, retry = 1000;

  const poll = async () => {
    const answer = await (await open(`after=${after()}&wait=${pollSeconds}`, signal)).json();
    onState("online");
    failures = 0;
    for (const event of answer.events ?? []) onEvent(event);
  };

  const stream = async () => {
    const cut = new AbortController();
    const stop = () => cut.abort();
    signal.addEventListener("abort", stop);
    let isHeard = false;
    let timer = setTimeout(stop, silence);
    try {
      const response = await open(`after=${after()}`, cut.signal);
      const parse = eventParser((data) => {
        const event = parsed(data);
        if (event && !signal.aborted) onEvent(event);
      }, (milliseconds) => { retry = milliseconds; });
      const decoder = new TextDecoder();
      const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        clearTimeout(timer);
        timer = setTimeout(stop, deadAfter);
        if (!isHeard) onState("online");
        isHeard = true;
        failures = silent = 0;
        parse(decoder.decode(value, { stream: true }));
      }
    } catch (err) {
      // Count only timeouts: if the network is missing, no proxy is to blame.
      if (!isHeard && cut.signal.aborted && !signal.aborted) silent++;
      throw err;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      cut.abort();
    }
  };

  while (!signal.aborted) {
    try {
      if (silent >= silentStreams) {
        await poll();
        continue;
      }
      await stream();
      await wait(backOff(0, retry), signal);
    } catch (/** @type {any} */ err) {
      if (signal.aborted) return;
      if (isFinal(err)) return onState("refused");
      failures++;
      if (failures > silentStreams) silent = Math.min(silent, silentStreams - 1); // After an outage, try a stream again.
      if (silent === 0 || failures > silentStreams) onState("offline");
      await wait(silent > 0 && failures <= silentStreams ? 0 : backOff(failures, err.retryAfter), signal);
    }
  }
};

/**
 * Reports whether trying again later is useless.
 * @param {any} err
 */
export const isFinal = (err) => err.status >= 400 && err.status < 500 && ![401, 408, 429].includes(err.status);
