// The page on which agents answer members. The server sends the open chats; the URL holds the chosen view and chat.
import { html, render, useEffect, useRef, useState, useAddress, useMedia, ask, counted, post, Theme } from "./parts/elements.js";
import { Chat } from "./chat.js";
import { Answers, End, HandOver, Help, Past } from "./dialogs.js";
import { listen } from "./events.js";
import { Filters, List, shownIn, useClosed, views } from "./list.js";
import { Refusal } from "./message.js";
import { Model, pathOf, problemOf, useModel } from "./model.js";
import { call, isUnread, newsOf, settings } from "./notices.js";
import { Panel, useAsked } from "./panel.js";

const model = new Model();

const Page = () => {
  useModel(model);
  useEffect(() => {
    ask("about").then((about) => { model.about = about; model.agents = []; model.changed(); }, (err) => { model.problem = problemOf(err); model.changed(); });
  }, []);
  if (!model.about) return html`<main class="waits"><h1>Desk</h1>${!model.problem && html`<p role="status">Signing in.</p>`}<${Refusal} problem=${model.problem} /></main>`;
  return html`<${Desk} about=${model.about} />`;
};

/** useNow returns the server's time, and draws the page again every 30 seconds. */
const useNow = (about) => {
  const [ahead] = useState(() => about.now - Date.now()), [now, setNow] = useState(about.now);
  useEffect(() => {
    const ticks = setInterval(() => setNow(Date.now() + ahead), 30000);
    return () => clearInterval(ticks);
  }, []);
  return Math.max(now, Date.now() + ahead);
};

/** useNews keeps the list of open chats up to date, and notifies the agent of requests and messages. */
const useNews = (about, open) => {
  const opened = useRef(open);
  opened.current = open;
  useEffect(() => {
    for (const app of about.apps) model.loadAnswers(app.id);
    return listen({
      agent: about.agent.id,
      hear: (news) => {
        const before = model.hear(news), me = model.about.agent;
        const presence = model.agents.find((one) => one.id === me.id);
        if (presence && presence.isAvailable !== me.isAvailable) model.about = { ...model.about, agent: { ...me, isAvailable: presence.isAvailable } };
        for (const { row, title, text } of before ? newsOf(before, model.rows, me, model.about.agent.isAvailable) : []) {
          call({ title, text, tag: row.id, open: () => opened.current(row) });
          model.say(`${title}: ${text}`);
        }
      },
      reached: (isOnline) => { model.isOnline = isOnline; model.changed(); },
      bye: () => { model.isSignedOut = true; model.changed(); },
      hello: ({ version }) => { model.isOld = version !== about.version; model.changed(); },
    });
  }, []);
};

const Desk = ({ about }) => {
  const [address, go] = useAddress(), [dialog, setDialog] = useState(null), [focusOn, setFocusOn] = useState({ what: "" });
  const [filter, setFilter] = useState({ search: "", team: "", app: "", tag: "" }), [hasKeys, setKeys] = useState(settings.get("keys") === "on");
  const isWide = useMedia("(min-width: 1180px)"), isMiddle = useMedia("(min-width: 760px)"), searchBox = useRef(), now = useNow(about), me = about.agent.id;
  const [hasPanel, setPanel] = useState(false);
  const view = views.some(([id]) => id === address.view) ? address.view : "mine";
  const closed = useClosed(view === "closed", filter.app || about.apps[0].id);
  const open = (row) => { model.problem = null; go({ chat: `${row.app}/${row.id}` }); };
  useNews(about, open);

  const [app, ...rest] = (address.chat ?? "").split("/"), id = rest.join("/");
  const listed = model.rows.get(id), details = useAsked(id ? pathOf({ app, id }) : "", listed?.state, listed?.agent, listed?.kept, model.isLoaded && !listed);
  const row = listed ?? (details.found && { ...details.found.chat });
  const rows = shownIn(view === "closed" ? closed.rows : model.rows.values(), view, filter, me);
  const unread = [...model.rows.values()].filter((one) => isUnread(one, me)), waiting = [...model.rows.values()].filter((one) => one.state === "pending");
  const calls = unread.length + (model.about.agent.isAvailable ? waiting.length : 0);
  useEffect(() => { document.title = `${calls > 0 ? `(${calls}) ` : ""}${row ? `${row.name}: ` : ""}Desk`; }, [calls, row?.name]);

  /** act posts an action on the open chat. It returns the result, or null if the server refused. */
  const act = async (what, body) => {
    const done = await model.act(row, what, body);
    if (!done) { model.say(model.problem.message); return null; }
    if (what === "take") { model.say(`You have the chat with ${row.name}.`); model.rows.set(done.id, done); model.changed(); setFocusOn({ what: "answer" }); }
    if (what === "end") model.say(`The chat with ${row.name} is over.`);
    if (what === "handover" || what === "giveback") model.say(`The chat with ${row.name} is waiting for another agent.`);
    return done;
  };
  const step = (by) => {
    const at = rows.findIndex((one) => one.id === id), next = rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + by))];
    if (next) open(next);
  };
  const isMine = row?.state === "taken" && row.agent === me;
  const openDialog = (what, of) => { model.problem = null; setDialog({ what, of }); };
  const doings = {
    j: () => step(1), k: () => step(-1), u: () => unread[0] && open(unread[0]), t: () => row?.state === "pending" && act("take"),
    r: () => isMine && setFocusOn({ what: "answer" }), n: () => row?.chat && setFocusOn({ what: "note" }), c: () => openDialog("answers"),
    h: () => isMine && openDialog("handover"), e: () => isMine && openDialog("end"), "/": () => searchBox.current?.focus(), "?": () => openDialog("help"),
    1: () => go({ view: "mine" }), 2: () => go({ view: "waiting" }), 3: () => go({ view: "all" }), 4: () => go({ view: "closed" }),
  };
  const does = useRef();
  does.current = hasKeys && !dialog ? doings : {};
  useEffect(() => {
    const press = (e) => {
      const doing = does.current[e.key];
      if (!doing || e.ctrlKey || e.metaKey || e.altKey || e.isComposing || e.target.closest?.("input, textarea, select, [contenteditable]")) return;
      e.preventDefault();
      doing();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  const close = (focus) => { setDialog(null); if (typeof focus === "string") setFocusOn({ what: focus }); };
  const setAvailable = async (e) => {
    const isAvailable = e.target.checked;
    model.about = { ...model.about, agent: { ...model.about.agent, isAvailable } };
    model.changed();
    await post("me", { isAvailable }).catch((err) => {
      model.problem = problemOf(err);
      model.about = { ...model.about, agent: { ...model.about.agent, isAvailable: !isAvailable } };
      model.changed();
    });
  };
  const showsList = isMiddle || !row, showsChat = isMiddle || row, showsPanel = row && (isWide || hasPanel);
  return html`
    <header class="head">
      <h1>Desk</h1>
      <nav aria-label="Lists"><ul>${views.map(([of, title]) => html`<li key=${of}><button type="button" aria-current=${of === view ? "page" : undefined} onClick=${() => go({ view: of, ...(isMiddle ? {} : { chat: "" }) })}>
        ${title}${of === "mine" && unread.length > 0 && html` <span class="tag new">${unread.length}<span class="hidden"> unread</span></span>`}${of === "waiting" && waiting.length > 0 && html` <span class="tag">${waiting.length}</span>`}</button></li>`)}</ul></nav>
      ${!model.isOnline && html`<p class="tag bad" role="status">Not connected: trying again</p>`}
      <div class="tools">
        <label class="check"><input type="checkbox" role="switch" checked=${model.about.agent.isAvailable} onChange=${setAvailable} /> Available</label>
        <button type="button" class="small" aria-keyshortcuts="?" onClick=${() => openDialog("help")}>Keys and settings</button>
        <${Theme} />
        <p class="faint"><bdi>${about.agent.name}</bdi></p>
      </div>
    </header>
    <p class="hidden" role="status" aria-live="polite">${model.said}</p>
    ${(model.isSignedOut || model.isOld) && html`<div class="problem" role="alert"><p>${model.isSignedOut ? "You are no longer signed in." : "The desk has a new version."}</p>
      <button type="button" onClick=${() => location.reload()}>${model.isSignedOut ? "Sign in" : "Reload"}</button></div>`}
    <main class=${`${showsList ? "has-list" : ""} ${showsChat ? "has-chat" : ""} ${showsPanel ? "has-panel" : ""}`}>
      ${showsList && html`<section class="side" aria-label=${views.find(([of]) => of === view)[1]}>
        <${Filters} model=${model} view=${view} filter=${filter} setFilter=${setFilter} searchBox=${searchBox} />
        <p class="hidden" role="status">${counted(rows.length, "chat")}</p>
        <${List} model=${model} view=${view} rows=${rows} chosen=${id} open=${open} now=${now} closed=${closed} />
      </section>`}
      ${showsChat && html`<section class="talk" aria-label="Chat">
        ${row ? html`<${Chat} model=${model} row=${row} details=${details.found} act=${act} openDialog=${openDialog} focusOn=${focusOn} now=${now} hasFiles=${about.hasFiles} back=${isMiddle ? null : () => go({ chat: "" })} />
          ${!isWide && html`<p><button type="button" class="small" aria-expanded=${hasPanel} onClick=${() => setPanel(!hasPanel)}>About the member</button></p>`}`
          : html`<div class="nothing"><${Refusal} problem=${details.problem ?? model.problem} /><p class="empty">Choose a chat, or take a waiting request.</p></div>`}
      </section>`}
      ${showsPanel && html`<${Panel} row=${row} details=${details.found} about=${about} show=${(of) => openDialog("past", of)} />`}
    </main>
    ${dialog?.what === "handover" && row && html`<${HandOver} model=${model} row=${row} act=${act} close=${close} />`}
    ${dialog?.what === "end" && row && html`<${End} model=${model} row=${row} act=${act} close=${close} />`}
    ${dialog?.what === "answers" && html`<${Answers} model=${model} app=${row?.app ?? about.apps[0].id} row=${isMine ? row : null} close=${close} />`}
    ${dialog?.what === "past" && html`<${Past} row=${dialog.of} close=${close} />`}
    ${dialog?.what === "help" && html`<${Help} close=${close} setKeys=${setKeys} />`}`;
};

render(html`<${Page} />`, document.getElementById("page"));
