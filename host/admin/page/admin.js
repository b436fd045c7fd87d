// The admin page. Its URL holds the list, app, id and cursors that it shows, so that links and bookmarks work.
import { html, render, useEffect, useState, ask, counted, fieldsOf, Field, Choose, post, Problem, Theme, timeText, useAddress, Value } from "./parts/elements.js";

const nameOf = (member) => [member.firstName, member.lastName].filter(Boolean).join(" ") || member.externalId || member._id;

// The lists: the path, the title, the text of an empty list, and the parts of a record's summary.
const kinds = [
  { path: "members", title: "Members", none: "No members", line: (one) => [html`<bdi>${nameOf(one)}</bdi>`, one.channel, one.botMeta?.nodeCompositeId && `at node ${one.botMeta.nodeCompositeId}`, one.botMeta?.liveChat && "in a live chat"] },
  { path: "agendas", title: "Agendas", none: "No agendas", line: (one) => [one.nodeCompositeId || one.tag, stateOf(one), one.nextRunAt && timeText(one.nextRunAt)] },
  { path: "assignments", title: "Requests for a person", none: "No requests", line: (one) => [one.summary || "(no summary)", one.state, one.createdAt && timeText(one.createdAt)] },
  { path: "dead-letters", title: "Dead letters", none: "No dead letters", line: (one) => [html`<bdi>${one.error}</bdi>`, one.code, timeText(one.diedAt)] },
];

const stateOf = (due) => (due.failed ? "failed" : due.completed ? "done" : "waiting");

const step = 50;

/** firstPage is a URL without cursors. */
const firstPage = { after: "", before: "" };

const Page = () => {
  const [about, setAbout] = useState(null), [problem, setProblem] = useState(null), [at, go] = useAddress();
  useEffect(() => { ask("about").then(setAbout, (e) => setProblem(e.problem)); }, []);
  if (!about) return html`<main><${Problem} problem=${problem} /></main>`;
  const kind = kinds.find((one) => one.path === at.of) ?? kinds[0], app = at.app || about.apps[0];
  return html`
    <header>
      <h1>Host records</h1>
      <nav aria-label="Kinds of records"><ul>${kinds.map((one) => html`<li key=${one.path}>
        <a class="button" href=${`?${new URLSearchParams({ app, of: one.path })}`} aria-current=${one === kind ? "page" : undefined}
          onClick=${(e) => { e.preventDefault(); go({ app, of: one.path, id: "", ...firstPage }); }}>${one.title}</a></li>`)}</ul></nav>
      <${Theme} />
    </header>
    <main><${Records} key=${`${app} ${kind.path} ${at.id ?? ""} ${at.after ?? ""} ${at.before ?? ""}`} about=${about} kind=${kind} app=${app} id=${at.id ?? ""} after=${at.after ?? ""} before=${at.before ?? ""} go=${go} /></main>`;
};

const Records = ({ about, kind, app, id, after, before, go }) => {
  const [list, setList] = useState(null), [problem, setProblem] = useState(null), [said, say] = useState("");
  const load = () => ask(`${kind.path}?${new URLSearchParams({ app, id, after, before, limit: step })}`).then((found) => { setList(found); return found; }, (e) => setProblem(e.problem));
  useEffect(() => { load(); }, []);
  const search = (e) => { e.preventDefault(); go({ ...fieldsOf(e.target), ...firstPage }); };
  const write = (what, did) => async (letter) => {
    setProblem(null);
    try {
      await post(`dead-letters/${encodeURIComponent(letter.id)}/${what}`, {});
      await load();
      say(`The message was ${did}.`);
    } catch (e) {
      setProblem(e.problem);
    }
  };
  const isBack = before !== "", hasEarlier = isBack ? list?.hasMore : after !== "", hasLater = isBack || list?.hasMore;
  const isFirst = !after && !before, [earlier, later] = { "dead-letters": ["Older", "Newer"], agendas: ["Previous", "Next"] }[kind.path] ?? ["Newer", "Older"];
  return html`
    <h2>${kind.title}</h2>
    <form class="row" role="search" onSubmit=${search}>
      <${Choose} label="App" name="app" value=${app} among=${about.apps} />
      <${Field} label=${kind.path === "dead-letters" ? "ID" : kind.path === "members" ? "ID, or ID on the platform" : "ID, or ID of the member"}><input name="id" defaultValue=${id} autocomplete="off" /></${Field}>
      <button class="main">Search</button>
    </form>
    <${Problem} problem=${problem} close=${() => setProblem(null)} />
    <p role="status" class="faint">${said} ${list && (list.records.length === 0 ? `${kind.none}${id ? " with this ID" : isFirst ? "" : " on this page"}.` : `${counted(list.records.length, "record")}${hasLater ? ", and more" : ""}.`)}</p>
    <ul class="records">${list?.records.map((one) => html`<li key=${one._id ?? one.id}><${One} kind=${kind} record=${one} mayWrite=${about.mayWrite} retry=${write("retry", "queued again")} discard=${write("discard", "discarded")} /></li>`)}</ul>
    ${list && (hasEarlier || hasLater) && html`<nav class="row" aria-label="Pages">
      <button type="button" disabled=${!hasEarlier} onClick=${() => go(list.first ? { before: list.first, after: "" } : firstPage)}>${earlier}</button>
      <button type="button" disabled=${!hasLater} onClick=${() => go(list.last ? { after: list.last, before: "" } : firstPage)}>${later}</button></nav>`}`;
};

/** One shows a record's summary and, once opened, all its fields. A dead letter's event is loaded only then. */
const One = ({ kind, record, mayWrite, retry, discard }) => {
  const [whole, setWhole] = useState(record), [problem, setProblem] = useState(null), isDead = kind.path === "dead-letters";
  const opened = (e) => {
    if (isDead && e.target.open && whole === record) ask(`dead-letters/${encodeURIComponent(record.id)}`).then(setWhole, (failed) => setProblem(failed.problem));
  };
  const [first, ...rest] = kind.line(record);
  return html`<details class="card" onToggle=${opened}>
    <summary><strong>${first}</strong>${rest.filter(Boolean).map((text) => html`<span class="tag">${text}</span>`)}<span class="id">${record._id ?? record.id}</span></summary>
    <${Problem} problem=${problem} />
    <${Value} value=${whole} />
    ${isDead && mayWrite && html`<div class="row">
      <button type="button" onClick=${() => retry(record)}>Try again</button>
      <button type="button" class="bad" onClick=${() => discard(record)}>Discard</button></div>`}
  </details>`;
};

render(html`<${Page} />`, document.getElementById("page"));
