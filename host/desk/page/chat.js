// A conversation: its messages and notes, and the form for new ones.
import { html, useEffect, useLayoutEffect, useRef, useState, ask, post } from "./parts/elements.js";
import { typingText, waitText } from "./list.js";
import { Body, Entry, Refusal } from "./message.js";
import { pathOf, problemOf, useModel } from "./model.js";

export const Chat = ({ model, row, details, act, openDialog, focusOn, back, now, hasFiles }) => {
  useModel(model);
  const me = model.about.agent.id, isMine = row.state === "taken" && row.agent === me, log = model.log(row.id);
  useEffect(() => { if (row.chat && log.entries.at(-1)?.seq !== row.seq) model.load(row); }, [row.id, row.chat, row.seq]);
  useEffect(() => {
    const read = () => {
      const seq = model.log(row.id).entries.at(-1)?.seq;
      if (isMine && seq > row.read && document.visibilityState === "visible") post(`${pathOf(row)}/read`, { seq }).catch(() => {}); // The next message tries again.
    };
    read();
    document.addEventListener("visibilitychange", read);
    return () => document.removeEventListener("visibilitychange", read);
  }, [row.id, isMine, row.read, log.entries.at(-1)?.seq]);
  return html`
    <header class="chat-head">
      ${back && html`<button type="button" class="small" onClick=${back}>Back<span class="hidden"> to the list</span></button>`}
      <h2><bdi>${row.name || "Someone"}</bdi></h2>
      <p class="faint">${stateText(row, me, now)}</p>
      <div class="acts"><${Acts} row=${row} isMine=${isMine} act=${act} openDialog=${openDialog} /></div>
    </header>
    <${Refusal} problem=${model.problem} close=${() => { model.problem = null; model.changed(); }} />
    <${Log} model=${model} row=${row} details=${details} log=${log} />
    ${row.chat && row.state !== "ended" && html`<${Composer} key=${row.id} model=${model} row=${row} isMine=${isMine} focusOn=${focusOn} hasFiles=${hasFiles} openDialog=${openDialog} />`}
    ${row.state === "ended" && html`<p class="event" role="status">This chat is over${endText(row)}.</p>`}`;
};

const endText = ({ endedBy }) => ({ inlet: ": the member or the bot ended it", idle: ": no one wrote for a while", reassign: ": it was handed over", "member gone": ": the member cannot be reached any more", "agent gone": ": its conversation was gone" })[endedBy] ?? "";

const stateText = (row, me, now) => {
  if (row.state === "pending") return waitText(row.since, now);
  if (row.state === "ended") return "over";
  return row.agent === me ? "your chat" : html`<bdi>${row.agentName}</bdi> has this chat`;
};

const Acts = ({ row, isMine, act, openDialog }) => html`
  ${row.state === "pending" && html`<button type="button" class="main" aria-keyshortcuts="t" onClick=${() => act("take")}>Take</button>`}
  ${isMine && html`
    <button type="button" aria-keyshortcuts="h" onClick=${() => openDialog("handover")}>Hand over</button>
    <button type="button" onClick=${() => act("giveback")}>Give back</button>
    <button type="button" class="bad" aria-keyshortcuts="e" onClick=${() => openDialog("end")}>End</button>`}`;

/** Log shows the messages of a chat, and stays at the end unless the agent has scrolled up. */
const Log = ({ model, row, details, log }) => {
  const box = useRef(), isAtEnd = useRef(true), [before, setBefore] = useState(null);
  const kept = row.chat ? [] : details?.kept ?? [], sending = model.sending.get(row.id) ?? [];
  const entries = [...(before?.entries ?? []), ...log.entries], newest = entries.at(-1)?.seq;
  const mine = new Set(log.entries.map((one) => one.key));
  useEffect(() => { setBefore(null); isAtEnd.current = true; }, [row.id]);
  useLayoutEffect(() => { if (isAtEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight; }, [row.id, newest, sending.length, kept.length, log.isLoading]);
  const note = (e) => { isAtEnd.current = e.target.scrollHeight - e.target.scrollTop - e.target.clientHeight < 40; };
  const loadBefore = async () => {
    try {
      setBefore(await ask(`${pathOf({ app: row.app, id: row.parent })}/log`));
    } catch (err) {
      setBefore({ entries: [], problem: problemOf(err) });
    }
  };
  const typing = typingText(row, model.about.agent.id);
  return html`<div class="log" role="log" aria-live="polite" aria-label=${`Conversation with ${row.name}`} tabindex="0" ref=${box} onScroll=${note}>
    ${row.parent && !before && html`<p class="event"><button type="button" class="small" onClick=${loadBefore}>Show the chat before the hand-over</button></p>`}
    ${log.hasMore && html`<p class="event"><button type="button" class="small" onClick=${() => model.loadEarlier(row)}>Show earlier messages</button></p>`}
    <${Refusal} problem=${log.problem ?? before?.problem} />
    ${!row.chat && html`<p class="event">${row.summary ? html`<bdi>${details?.summary ?? row.summary}</bdi>` : "No one has taken this request yet."}</p>`}
    <ol>
      ${kept.map((entry) => html`<li key=${entry.key}><${Entry} entry=${entry} name=${row.name} /></li>`)}
      ${entries.map((entry) => html`<li key=${entry.seq}><${Entry} entry=${entry} name=${row.name} /></li>`)}
      ${sending.filter((one) => !mine.has(one.key)).map((one) => html`<li key=${one.key}><${Unsent} model=${model} row=${row} message=${one} /></li>`)}
    </ol>
    ${typing && html`<p class="event typing">${typing}…</p>`}
  </div>`;
};

/** Unsent is a message that is being sent, or that could not be sent. */
const Unsent = ({ model, row, message }) => html`<div class="entry ${message.what === "notes" ? "note" : "agent"} unsent">
  <div class="bubble"><${Body} response=${message.body.file ? { type: message.body.file.kind, ...message.body.file } : { type: "TEXT", text: message.body.text }} /></div>
  ${message.problem ? html`<div role="alert" class="row"><p class="faint">Not sent: <bdi>${message.problem.message}</bdi></p>
    <button type="button" class="small" onClick=${() => model.retry(row, message)}>Try again</button>
    <button type="button" class="small" onClick=${() => model.drop(row, message)}>Discard</button></div>` : html`<p class="faint">Sending</p>`}
</div>`;

/** typingPause is the shortest time between two typing requests, in milliseconds. */
const typingPause = 3000;

/** Composer is the form for answers and notes. Each chat keeps its drafts. */
const Composer = ({ model, row, isMine, focusOn, hasFiles, openDialog }) => {
  const [isNote, setNote] = useState(!isMine), [replies, setReplies] = useState(null), [problem, setProblem] = useState(null), [isOver, setOver] = useState(false);
  const what = isNote ? "notes" : "messages", text = model.draft(row, what), box = useRef(), typedAt = useRef(0), picker = useRef();
  const setText = (next) => model.setDraft(row, what, next);
  useEffect(() => { if (!isMine) setNote(true); }, [isMine]);
  useEffect(() => {
    if (focusOn.what === "note") setNote(true);
    if (focusOn.what === "answer" && isMine) setNote(false);
    if (focusOn.what) box.current?.focus();
  }, [focusOn]);
  const type = (next) => {
    setText(next);
    if (next && Date.now() - typedAt.current > typingPause) {
      typedAt.current = Date.now();
      post(`${pathOf(row)}/typing`, { isNote }).catch(() => {}); // Others only miss the typing indicator.
    }
  };
  const submit = (e) => {
    e?.preventDefault();
    if (text.trim() === "") return;
    const titles = isNote ? [] : (replies ?? "").split("\n").map((one) => one.trim()).filter(Boolean);
    model.send(row, what, titles.length > 0 ? { text, quickReplies: titles } : { text });
    setText("");
    setReplies(null);
    typedAt.current = 0;
    box.current?.focus();
  };
  const sendFiles = async (files) => {
    setProblem(null);
    for (const file of files) {
      try {
        if (!hasFiles) throw { problem: { code: "Unsupported", message: "This desk cannot send files." } };
        if (isNote) throw { problem: { code: "FailedPrecondition", message: "A note has no files. Choose Answer." } };
        model.say(`Sending the file ${file.name}.`);
        const stored = await ask(`${pathOf(row)}/files?name=${encodeURIComponent(file.name)}`, {
          method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file,
        });
        await model.send(row, "messages", { text: "", file: stored });
      } catch (err) {
        setProblem(problemOf(err));
      }
    }
  };
  const drop = (e) => { e.preventDefault(); setOver(false); sendFiles([...e.dataTransfer.files]); };
  const paste = (e) => { const files = [...e.clipboardData.files]; if (files.length > 0) { e.preventDefault(); sendFiles(files); } };
  return html`<form class="composer ${isNote ? "is-note" : ""} ${isOver ? "is-over" : ""}" onSubmit=${submit}
      onDragOver=${(e) => { e.preventDefault(); setOver(true); }} onDragLeave=${() => setOver(false)} onDrop=${drop}>
    <div class="kinds" role="group" aria-label="What you write">
      <button type="button" class="small" aria-pressed=${!isNote} disabled=${!isMine} onClick=${() => { setNote(false); box.current.focus(); }}>Answer</button>
      <button type="button" class="small" aria-pressed=${isNote} onClick=${() => { setNote(true); box.current.focus(); }}>Note<span class="hidden"> for agents only</span></button>
    </div>
    <${Field} model=${model} row=${row} text=${text} isNote=${isNote} box=${box} type=${type} setText=${setText} submit=${submit} paste=${paste} setProblem=${setProblem} />
    ${replies !== null && !isNote && html`<label class="field"><span>Quick replies, one on each line</span>
      <textarea rows="3" dir="auto" value=${replies} onInput=${(e) => setReplies(e.target.value)}></textarea></label>`}
    <${Refusal} problem=${problem} close=${() => setProblem(null)} />
    <div class="row">
      <button class="main">${isNote ? "Add the note" : "Send"}</button>
      ${!isNote && html`
        <button type="button" aria-keyshortcuts="c" onClick=${() => openDialog("answers")}>Canned answers</button>
        <button type="button" aria-expanded=${replies !== null} onClick=${() => setReplies(replies === null ? "" : null)}>Quick replies</button>
        ${hasFiles && html`<button type="button" onClick=${() => picker.current.click()}>File</button>
          <input type="file" class="hidden" multiple tabindex="-1" aria-label="Files to send" ref=${picker} onChange=${(e) => { sendFiles([...e.target.files]); e.target.value = ""; }} />`}`}
    </div>
  </form>`;
};

/** Field is the field for the text. A text that begins with a slash offers canned answers. */
const Field = ({ model, row, text, isNote, box, type, setText, submit, paste, setProblem }) => {
  const [chosen, setChosen] = useState(0), [isClosed, setClosed] = useState(false);
  const word = !isNote && /^\/(\S*)$/.exec(text)?.[1];
  const offered = typeof word === "string" && !isClosed ? (model.answers.get(row.app) ?? []).filter((one) => one.short.startsWith(word)).slice(0, 8) : [];
  const at = Math.min(chosen, offered.length - 1);
  const take = async (answer) => {
    try {
      const filled = await post(`${pathOf(row)}/fill`, { text: answer.text });
      setText(filled.text);
    } catch (err) {
      setProblem(problemOf(err));
    }
    box.current?.focus();
  };
  const keys = (e) => {
    if (e.isComposing) return;
    if (offered.length > 0 && (e.key === "ArrowDown" || e.key === "ArrowUp")) {
      e.preventDefault();
      setChosen((at + (e.key === "ArrowDown" ? 1 : offered.length - 1)) % offered.length);
    } else if (offered.length > 0 && (e.key === "Enter" || e.key === "Tab")) {
      e.preventDefault();
      take(offered[at]);
    } else if (e.key === "Escape") {
      if (offered.length > 0) setClosed(true); else e.target.blur();
    } else if (e.key === "Enter" && !e.shiftKey) {
      e.preventDefault();
      submit();
    }
  };
  return html`<div class="field-of-text">
    ${offered.length > 0 && html`<ul class="offers" role="listbox" id="offers" aria-label="Canned answers">${offered.map((one, i) => html`
      <li key=${one.id} id=${`offer-${i}`} role="option" aria-selected=${i === at} onMouseDown=${(e) => { e.preventDefault(); take(one); }}><strong>/<bdi>${one.short}</bdi></strong> <bdi>${one.text}</bdi></li>`)}</ul>`}
    <label class="hidden" for="say">${isNote ? "Note for agents only" : `Answer to ${row.name}`}</label>
    <textarea id="say" rows="2" dir="auto" ref=${box} value=${text} maxlength=${isNote ? 4000 : 2000} aria-keyshortcuts=${isNote ? "n" : "r"}
      placeholder=${isNote ? "A note for agents only" : "Write an answer, or / for canned answers"}
      aria-autocomplete="list" aria-controls=${offered.length > 0 ? "offers" : undefined} aria-activedescendant=${offered.length > 0 ? `offer-${at}` : undefined}
      onInput=${(e) => { setClosed(false); setChosen(0); type(e.target.value); }} onKeyDown=${keys} onKeyPress=${(e) => { if (e.key === "Enter" && !e.shiftKey) e.preventDefault(); }} onPaste=${paste}></textarea>
  </div>`;
};
