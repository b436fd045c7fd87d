// The dialogs: handing over, ending, canned answers, an earlier chat, and the keys and settings.
import { html, useEffect, useLayoutEffect, useRef, useState, ask, fieldsOf, Field, post } from "./parts/elements.js";
import { stampText } from "./list.js";
import { Entry, Refusal } from "./message.js";
import { pathOf, problemOf, useModel } from "./model.js";
import { canNotify, settings } from "./notices.js";
import { useAsked } from "./panel.js";

/** Dialog is a modal dialog. Escape closes it, and the focus returns to where it was. */
export const Dialog = ({ title, close, children }) => {
  const box = useRef();
  useLayoutEffect(() => {
    const from = document.activeElement;
    box.current.showModal();
    return () => { if (from?.isConnected) from.focus(); };
  }, []);
  return html`<dialog ref=${box} aria-labelledby="dialog-title" onClose=${close}>
    <header><h2 id="dialog-title">${title}</h2><button type="button" class="small" onClick=${() => box.current.close()}>Close</button></header>
    ${children}
  </dialog>`;
};

/** HandOver asks for the team or agent to get the chat, and for a note. */
export const HandOver = ({ model, row, act, close }) => {
  useModel(model);
  const teams = model.about.apps.find((one) => one.id === row.app)?.teams ?? [], me = model.about.agent.id;
  const others = model.agents.filter((one) => one.id !== me && one.apps.includes(row.app)), here = others.filter((one) => one.isHere && one.isAvailable), away = others.filter((one) => !here.includes(one));
  const submit = async (e) => {
    e.preventDefault();
    const { to, note } = fieldsOf(e.target), [kind, ...rest] = to.split(" ");
    if (await act("handover", { [kind]: rest.join(" "), note })) close();
  };
  return html`<${Dialog} title="Hand over" close=${close}><form class="column" onSubmit=${submit}>
    <${Field} label="To"><select name="to" required>
      <optgroup label="Teams">${teams.map((team) => html`<option key=${team.channel + team.id} value=${`team ${team.id}`}>${team.id}${team.label === team.id || team.label === "default" ? "" : ` (${team.label})`}</option>`)}</optgroup>
      ${here.length > 0 && html`<optgroup label="Available agents">${here.map((one) => html`<option key=${one.id} value=${`agent ${one.id}`}>${one.name}</option>`)}</optgroup>`}
      ${away.length > 0 && html`<optgroup label="Other agents">${away.map((one) => html`<option key=${one.id} value=${`agent ${one.id}`}>${one.name}</option>`)}</optgroup>`}
    </select></${Field}>
    <${Field} label="A note for the next agent"><textarea name="note" rows="3" maxlength="4000" dir="auto"></textarea></${Field}>
    <${Refusal} problem=${model.problem} />
    <div class="row"><button class="main">Hand over</button></div>
  </form></${Dialog}>`;
};

/** End asks for confirmation before it ends a chat. */
export const End = ({ model, row, act, close }) => {
  useModel(model);
  return html`<${Dialog} title="End the chat" close=${close}>
    <p>The chat with <bdi>${row.name}</bdi> ends, and the bot answers again.</p>
    <${Refusal} problem=${model.problem} />
    <div class="row"><button type="button" class="main" autofocus onClick=${async () => { if (await act("end")) close(); }}>End the chat</button>
      <button type="button" onClick=${close}>Cancel</button></div>
  </${Dialog}>`;
};

/** Answers lists an app's canned answers. The agent can use one in the chat, and add, change or delete them. */
export const Answers = ({ model, app, row, close }) => {
  useModel(model);
  const [edited, setEdited] = useState(null), [problem, setProblem] = useState(null), [search, setSearch] = useState("");
  useEffect(() => { model.loadAnswers(app); }, [app]);
  const all = (model.answers.get(app) ?? []).filter((one) => `${one.short}\n${one.text}`.toLowerCase().includes(search.toLowerCase()));
  const change = async (path, body) => {
    setProblem(null);
    try {
      await post(`answers/${encodeURIComponent(app)}${path}`, body);
      setEdited(null);
      await model.loadAnswers(app);
    } catch (err) {
      setProblem(problemOf(err));
    }
  };
  const use = async (answer) => {
    try {
      const { text } = await post(`${pathOf(row)}/fill`, { text: answer.text });
      const begun = model.draft(row, "messages");
      model.setDraft(row, "messages", begun ? `${begun}\n${text}` : text);
      close("answer");
    } catch (err) {
      setProblem(problemOf(err));
    }
  };
  return html`<${Dialog} title="Canned answers" close=${() => close()}>
    <${Field} label="Search"><input type="search" value=${search} autocomplete="off" onInput=${(e) => setSearch(e.target.value)} /></${Field}>
    <${Refusal} problem=${problem} close=${() => setProblem(null)} />
    <ul class="answers" aria-label="Canned answers">${all.map((one) => html`<li key=${one.id} class="card">
      <p><strong>/<bdi>${one.short}</bdi></strong></p><p class="text" dir="auto">${one.text}</p>
      <div class="row">${row && html`<button type="button" class="main small" onClick=${() => use(one)}>Use<span class="hidden"> /${one.short}</span></button>`}
        <button type="button" class="small" onClick=${() => setEdited(one)}>Change<span class="hidden"> /${one.short}</span></button>
        <button type="button" class="small bad" onClick=${() => change("/delete", { id: one.id })}>Delete<span class="hidden"> /${one.short}</span></button></div></li>`)}
      ${all.length === 0 && html`<li class="empty">No canned answers.</li>`}</ul>
    ${edited === null ? html`<p><button type="button" onClick=${() => setEdited({ short: "", text: "" })}>New</button></p>`
      : html`<form class="column" key=${edited.id ?? "new"} onSubmit=${(e) => { e.preventDefault(); change("", { ...(edited.id ? { id: edited.id } : {}), ...fieldsOf(e.target) }); }}>
        <${Field} label="Short word, for /word"><input name="short" value=${edited.short} onInput=${(e) => setEdited({ ...edited, short: e.target.value })} required maxlength="40" pattern="[^\\s\\/]+" autocomplete="off" /></${Field}>
        <${Field} label="Text; placeholders such as {{firstName}} and {{meta.order}} are filled in"><textarea name="text" rows="4" required maxlength="2000" dir="auto" value=${edited.text} onInput=${(e) => setEdited({ ...edited, text: e.target.value })}></textarea></${Field}>
        <div class="row"><button class="main">Save</button><button type="button" onClick=${() => setEdited(null)}>Cancel</button></div></form>`}
  </${Dialog}>`;
};

/** Past shows the messages of an earlier chat. */
export const Past = ({ row, close }) => {
  const { found, problem } = useAsked(`${pathOf(row)}/log`), [earlier, setEarlier] = useState([]), [hasMore, setMore] = useState(null);
  const entries = [...earlier, ...(found?.entries ?? [])];
  const load = async () => {
    const more = await ask(`${pathOf(row)}/log?before=${entries[0].seq}`).catch(() => ({ entries: [], hasMore: true }));
    setEarlier([...more.entries, ...earlier]);
    setMore(more.hasMore);
  };
  return html`<${Dialog} title=${`Chat of ${stampText(row.since)}`} close=${close}>
    <${Refusal} problem=${problem} />
    ${found && entries.length === 0 && html`<p class="empty">No messages, or they are no longer kept.</p>`}
    ${(hasMore ?? found?.hasMore) && html`<p><button type="button" class="small" onClick=${load}>Earlier</button></p>`}
    <ol class="transcript" tabindex="0" aria-label="Messages">${entries.map((entry) => html`<li key=${entry.seq}><${Entry} entry=${entry} name=${row.name} /></li>`)}</ol>
  </${Dialog}>`;
};

/** keys are the page's shortcuts, each with its effect. */
export const keys = [
  ["j", "next chat"], ["k", "previous chat"], ["u", "next chat with unread messages"], ["t", "take the request"], ["r", "write an answer"], ["n", "write a note"],
  ["c", "canned answers"], ["h", "hand over"], ["e", "end the chat"], ["/", "search"], ["1 to 4", "mine, waiting, all, closed"], ["?", "this help"],
];

/** Help shows the shortcuts, and the agent's settings in this browser. */
export const Help = ({ close, setKeys }) => {
  const [, draw] = useState(0), [permission, setPermission] = useState(canNotify());
  const toggle = (name) => (e) => { settings.set(name, e.target.checked ? "on" : "off"); if (name === "keys") setKeys(e.target.checked); draw((n) => n + 1); };
  const box = (name, label) => html`<label class="check"><input type="checkbox" checked=${settings.get(name) === "on"} onChange=${toggle(name)} /> ${label}</label>`;
  return html`<${Dialog} title="Keys and settings" close=${close}>
    <dl class="fields">${keys.map(([key, what]) => html`<div key=${key}><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}
      <div><dt><kbd>Enter</kbd></dt><dd>send; with Shift, a new line</dd></div><div><dt><kbd>Escape</kbd></dt><dd>leave the field, so that the keys work again</dd></div></dl>
    <div class="column">${box("keys", "Single-key shortcuts, outside of fields")}${box("sound", "Play a sound for new requests and messages")}${box("notices", "Desktop notifications")}</div>
    ${permission === "default" && html`<p><button type="button" onClick=${async () => setPermission(await Notification.requestPermission())}>Allow desktop notifications</button></p>`}
  </${Dialog}>`;
};
