// News from the server: the world has changed. Over HTTP/1.1 a browser opens at most six connections to a server, and
// an event stream occupies one of them. So one visible tab listens for all visible tabs, and hidden tabs do not listen.
import { addressOf } from "./parts/elements.js";

/** listen calls changed when the world may have changed, and reached with whether the server is connected, while the
 * page is visible. It returns a function that stops it. */
export const listen = ({ changed, reached }) => {
  let leave = null;
  const note = () => {
    leave?.();
    leave = null;
    if (document.visibilityState === "visible") {
      leave = join({ changed, reached });
      changed(); // A hidden page misses changes.
    }
  };
  document.addEventListener("visibilitychange", note);
  if (document.visibilityState === "visible") leave = join({ changed, reached });
  return () => { document.removeEventListener("visibilitychange", note); leave?.(); };
};

/** join calls hears with the server's news. One tab, the leader, gets them from the server and passes them on to the
 * others; when it leaves, another tab leads. join returns a function that leaves. */
const join = (hears) => {
  const name = String(addressOf("events")), tabs = new BroadcastChannel(name), left = new AbortController();
  const hear = ([what, ...of]) => hears[what](...of);
  const tell = (...news) => { hear(news); tabs.postMessage(news); };
  tabs.onmessage = ({ data }) => hear(data);
  const stream = () => new Promise((end) => {
    const events = new EventSource(name);
    events.addEventListener("changed", () => tell("changed"));
    events.onopen = () => tell("reached", true);
    events.onerror = () => tell("reached", false);
    left.signal.addEventListener("abort", () => { events.close(); end(); });
  });
  if (navigator.locks) navigator.locks.request(name, { signal: left.signal }, stream).catch(() => {}); // The page left before it became the leader.
  else stream(); // Browsers have locks only on HTTPS and localhost. Without them, each visible tab listens.
  return () => { left.abort(); tabs.close(); };
};
