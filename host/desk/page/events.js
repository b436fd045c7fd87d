// News from the server: the open chats and the agents. Over HTTP/1.1 a browser opens at most six connections to a
// server, and an event stream occupies one of them. So one of an agent's tabs listens for all.
import { addressOf } from "./parts/elements.js";

/** refusedPause is the wait before a refused stream is opened again, in milliseconds. */
const refusedPause = 2000;

/** listen calls hear with news, reached with whether the server is connected, hello with the server's version, and bye
 * when the agent is no longer signed in. agent is an id, which separates people who share a browser. listen returns a
 * function that stops it. */
export const listen = ({ agent, hear, reached, bye, hello }) => {
  const address = addressOf("events"), name = `${address} ${agent}`;
  const tabs = new BroadcastChannel(name), left = new AbortController();
  const known = { rows: new Map(), agents: null, isLeader: false };
  const calls = { news: hear, reached, bye, hello };
  const tell = (what, of) => { calls[what](of); tabs.postMessage([what, of]); };
  tabs.onmessage = ({ data: [what, of] }) => {
    if (what !== "asks") return calls[what]?.(of);
    if (known.isLeader && known.agents) tabs.postMessage(["news", { isAll: true, set: [...known.rows.values()], agents: known.agents }]);
  };
  const stream = (again) => {
    const events = new EventSource(address);
    events.addEventListener("news", ({ data }) => {
      const news = JSON.parse(data);
      if (news.isAll) known.rows.clear();
      for (const row of news.set ?? []) known.rows.set(row.id, row);
      for (const id of news.gone ?? []) known.rows.delete(id);
      known.agents = news.agents ?? known.agents ?? [];
      tell("news", news);
    });
    events.addEventListener("hello", ({ data }) => tell("hello", JSON.parse(data)));
    events.addEventListener("bye", () => { events.close(); tell("bye"); });
    events.onopen = () => tell("reached", true);
    events.onerror = () => {
      tell("reached", false);
      if (events.readyState === EventSource.CLOSED) setTimeout(again, refusedPause); // The server refused. The browser does not reconnect.
    };
    return events;
  };
  const lead = () => new Promise((end) => {
    known.isLeader = true;
    let events;
    const open = async () => {
      const status = await fetch(addressOf("about")).then((answer) => answer.status, () => 0);
      if (left.signal.aborted) return;
      if (status === 401) tell("bye"); else events = stream(open);
    };
    events = stream(open);
    left.signal.addEventListener("abort", () => { events.close(); end(); });
  });
  tabs.postMessage(["asks"]); // A tab that already listens answers with all chats.
  if (navigator.locks) navigator.locks.request(name, { signal: left.signal }, lead).catch(() => {}); // The page left before it became the leader.
  else lead(); // Browsers have locks only on HTTPS and localhost. Without them, each tab listens.
  return () => { left.abort(); tabs.close(); };
};
