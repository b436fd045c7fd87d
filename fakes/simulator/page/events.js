// What the server tells the page: that the world has changed. A browser opens six connections to a server over
// HTTP/1.1, and a stream of events keeps one of them. So one of the tabs listens for all that are seen, and a hidden tab
// listens to nothing.
import { addressOf } from "./parts/elements.js";

/** listen calls changed when the world may have changed, and reached with whether the server answers, while the page is
 * seen. It returns what ends that. */
export const listen = ({ changed, reached }) => {
  let leave = null;
  const note = () => {
    leave?.();
    leave = null;
    if (document.visibilityState === "visible") {
      leave = join({ changed, reached });
      changed(); // Nobody has told a hidden page.
    }
  };
  document.addEventListener("visibilitychange", note);
  if (document.visibilityState === "visible") leave = join({ changed, reached });
  return () => { document.removeEventListener("visibilitychange", note); leave?.(); };
};

/** join lets the page hear what one of the tabs hears from the server, and be that one if no other is. */
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
  if (navigator.locks) navigator.locks.request(name, { signal: left.signal }, stream).catch(() => {}); // It left before its turn.
  else stream(); // The address is neither local nor HTTPS: each tab that is seen listens itself.
  return () => { left.abort(); tabs.close(); };
};
