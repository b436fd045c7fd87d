// The list of chats: the agent's own, waiting, all, or closed ones, with a search and filters.
import { html, useEffect, useRef, useState, ask, Choose } from "./parts/elements.js";
import { isUnread } from "./notices.js";
import { Refusal } from "./message.js";
import { problemOf, useModel } from "./model.js";

export const views = [["mine", "Mine"], ["waiting", "Waiting"], ["all", "All"], ["closed", "Closed"]];

/** agoText returns the time since at: now, 5 min, 2 h or 3 d. */
export const agoText = (at, now) => {
  const minutes = Math.max(0, Math.floor((now - at) / 60000));
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  return minutes < 1440 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`;
};

/** waitText returns how long a request has waited. */
export const waitText = (since, now) => (now - since < 60000 ? "just arrived" : `waiting ${agoText(since, now)}`);

/** stampText returns a date and time in the browser's time zone. */
export const stampText = (at) => new Date(at).toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

/**
 * shownIn returns the chats of a view that match a search and filters. Waiting chats are ordered by age, oldest first.
 * Mine and all have taken chats before waiting ones, and the most recently active first. Closed chats keep their order.
 */
export const shownIn = (rows, view, { search, team, app, tag }, me) => {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (row) => {
    const text = [row.name, row.summary, row.label, row.agentName, row.last?.text, ...row.tags].join("\n").toLowerCase();
    return words.every((word) => text.includes(word)) && (!team || row.teams.includes(team)) && (!app || row.app === app) && (!tag || row.tags.includes(tag));
  };
  const isIn = { mine: (row) => row.agent === me || (row.state === "pending" && row.teams.includes(me)), waiting: (row) => row.state === "pending", all: () => true, closed: () => true }[view];
  const found = [...rows].filter((row) => isIn(row) && matches(row));
  const byAge = (a, b) => a.since - b.since || (a.id < b.id ? -1 : 1);
  if (view === "closed") return found;
  if (view === "waiting") return found.sort(byAge);
  return found.sort((a, b) => (a.state === "pending") - (b.state === "pending") || (b.last?.at ?? b.since) - (a.last?.at ?? a.since) || byAge(a, b));
};

/** useClosed returns the closed chats of an app, and a function that loads more of them. */
export const useClosed = (isAsked, app) => {
  const [found, setFound] = useState({ rows: [], hasMore: false, problem: null }), shown = useRef();
  shown.current = app;
  const load = async (before) => {
    try {
      const { chats, last, hasMore } = await ask(`closed/${encodeURIComponent(app)}${before ? `?before=${encodeURIComponent(before)}` : ""}`);
      if (shown.current === app) setFound((was) => ({ rows: before ? [...was.rows, ...chats] : chats, last, hasMore, problem: null }));
    } catch (err) {
      if (shown.current === app) setFound((was) => ({ ...was, problem: problemOf(err) }));
    }
  };
  useEffect(() => { if (isAsked) load(); }, [isAsked, app]);
  return { ...found, more: () => load(found.last) };
};

/** Filters are the search field and the filters above the list. The list of closed chats shows one app. */
export const Filters = ({ model, view, filter, setFilter, searchBox }) => {
  const { apps } = model.about, set = (name) => (value) => setFilter({ ...filter, [name]: value });
  const teams = [...new Set(apps.flatMap((app) => app.teams.map((team) => team.id)))];
  const tags = [...new Set([...model.rows.values()].flatMap((row) => row.tags))].sort();
  return html`<form class="filters" role="search" onSubmit=${(e) => e.preventDefault()}>
    <label class="field"><span class="hidden">Search in the list</span>
      <input type="search" ref=${searchBox} value=${filter.search} placeholder="Search" autocomplete="off" onInput=${(e) => set("search")(e.target.value)} /></label>
    ${(teams.length > 1 || tags.length > 0 || apps.length > 1) && html`<details open=${view === "closed" && apps.length > 1 ? true : undefined}><summary>Filters</summary><div class="row">
      ${apps.length > 1 && html`<${Choose} label="App" value=${filter.app || (view === "closed" ? apps[0].id : "")} onChange=${set("app")} among=${[...(view === "closed" ? [] : [["", "All"]]), ...apps.map((app) => app.id)]} />`}
      ${teams.length > 1 && html`<${Choose} label="Team" value=${filter.team} onChange=${set("team")} among=${[["", "All"], ...teams]} />`}
      ${tags.length > 0 && html`<${Choose} label="Tag" value=${filter.tag} onChange=${set("tag")} among=${[["", "All"], ...tags]} />`}
    </div></details>`}
  </form>`;
};

export const List = ({ model, view, rows, chosen, open, now, closed }) => {
  useModel(model);
  const me = model.about.agent.id, box = useRef();
  useEffect(() => { box.current?.querySelector(`[aria-current="true"]`)?.scrollIntoView({ block: "nearest" }); }, [chosen]);
  const none = { mine: "You have no chats.", waiting: "No one is waiting.", all: "No open chats.", closed: "No closed chats." }[view];
  return html`<div class="list" ref=${box}>
    ${!model.isLoaded && view !== "closed" ? html`<p class="empty" role="status">Loading the chats.</p>` : rows.length === 0 && !(view === "closed" && closed.hasMore) && html`<p class="empty">${none}</p>`}
    <ul aria-label="Chats">${rows.map((row) => html`<li key=${row.id}>
      <button type="button" class="chat-row ${isUnread(row, me) ? "unread" : ""}" aria-current=${row.id === chosen ? "true" : undefined} onClick=${() => open(row)}>
        <span class="first"><strong><bdi>${row.name || "Someone"}</bdi></strong>
          <time datetime=${new Date(row.last?.at ?? row.since).toISOString()}>${agoText(row.last?.at ?? row.since, now)}</time></span>
        <span class="second"><bdi>${typingText(row, me) || row.last?.text || row.summary || "(no message)"}</bdi></span>
        <span class="marks"><${Marks} row=${row} me=${me} now=${now} /></span>
      </button></li>`)}</ul>
    ${view === "closed" && html`<${Refusal} problem=${closed.problem} />${closed.hasMore && html`<p><button type="button" onClick=${closed.more}>More</button></p>`}`}
  </div>`;
};

const Marks = ({ row, me, now }) => html`
  ${isUnread(row, me) && html`<span class="tag new">New</span>`}
  ${row.state === "pending" && html`<span class="tag ${now - row.since > 300000 ? "bad" : ""}">${waitText(row.since, now)}</span>`}
  ${row.state === "pending" && row.teams.includes(me) && html`<span class="tag new">for you</span>`}
  ${row.state === "taken" && row.agent !== me && html`<span class="tag"><bdi>${row.agentName}</bdi></span>`}
  ${row.state === "ended" && html`<span class="tag">over</span>`}
  ${row.state === "pending" && row.teams.filter((team) => team !== me).map((team) => html`<span class="tag" key=${team}><bdi>${team}</bdi></span>`)}
  ${row.tags.slice(0, 3).map((tag) => html`<span class="tag" key=${`tag ${tag}`}><bdi>#${tag}</bdi></span>`)}`;

/** typingText names the others who are typing in a chat. It returns "" if there are none. */
export const typingText = (row, me) => row.typing.filter((one) => one.key !== `agent ${me}`)
  .map((one) => (one.from === "member" ? `${row.name} is typing` : one.from === "note" ? `${one.name} is writing a note` : `${one.name} is typing an answer`)).join(", ");
