// What the server tells the page: the open chats and the agents. A browser opens six connections to a server over
// HTTP/1.1, and a stream of events keeps one of them. So one of an agent's tabs listens for all.
import { addressOf } from "./parts/elements.js";

/** refusedPause is the time after which a stream that was refused is asked for again. */
const refusedPause = 2000;

/** listen calls hear with each news, and reached with whether the server answers. agent keeps apart people who share a
 * browser. bye is called when the agent is not signed in any more. It returns what ends that. */
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
      if (events.readyState === EventSource.CLOSED) setTimeout(again, refusedPause); // The server refused: a browser does not ask again.
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
  tabs.postMessage(["asks"]); // Another tab may listen already.
  if (navigator.locks) navigator.locks.request(name, { signal: left.signal }, lead).catch(() => {}); // It left before its turn.
  else lead(); // The address is neither local nor HTTPS: each tab listens itself.
  return () => { left.abort(); tabs.close(); };
};
