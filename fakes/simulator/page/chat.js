// A member's conversation. The style sheet gives it the look of the member's platform.
import { html, useEffect, useRef, useState, clockText, timeText, Choose, Field, fieldsOf, parsed, Problem } from "./parts/elements.js";

/** The displayed names of message types. */
const kinds = { IMAGE: "Picture", AUDIO: "Recording", VIDEO: "Video", FILE: "File", TEMPLATE: "Template", TICKET: "Ticket" };
const kindText = (type) => (Object.hasOwn(kinds, type) ? kinds[type] : type);

export const Chat = ({ world, who, act, go }) => html`<div class="chat" data-platform=${who.platform}>
  <${Log} world=${world} who=${who} act=${act} go=${go} tap=${(entry, button) => act("tap", { person: who.id, message: entry.id, number: button.number })} />
  <${Composer} who=${who} world=${world} act=${act} />
</div>`;

/** Log shows a conversation, and scrolls to the end after each new message. */
export const Log = ({ world, who, tap, go }) => {
  const box = useRef(), end = who.talk.length;
  useEffect(() => { box.current.scrollTop = box.current.scrollHeight; }, [end, who.id]);
  return html`<div class="log" role="log" aria-live="polite" aria-label=${`Conversation of ${who.name}`} tabindex="0" ref=${box}>
    ${end === 0 && html`<p class="empty">No messages yet. ${who.isInLiveChat === undefined ? "" : `Write one as ${who.name}.`}</p>`}
    <ol>${who.talk.map((entry, i) => html`<${Entry} key=${`${entry.moment}.${i}`} entry=${entry} world=${world} who=${who} tap=${tap} go=${go} isLast=${i === end - 1} />`)}</ol>
    ${world.busy && html`<p class="empty">The bot is working.</p>`}
  </div>`;
};

const Entry = ({ entry, world, who, tap, go, isLast }) => {
  const from = entry.from || world.bot;
  const why = entry.isIn && world.choices.some((one) => one.moment === entry.moment);
  return html`<li class=${`entry ${entry.isIn ? "in" : "out"}`}>
    <p class="who"><span class="face" aria-hidden="true">${[...from][0]}</span><bdi>${from}</bdi>
      <time datetime=${entry.at} title=${timeText(entry.at)}>${clockText(entry.at)}</time></p>
    <div class="bubble">
      ${entry.isTakenBack ? html`<p class="faint">(deleted)</p>` : html`<${Body} entry=${entry} />`}
      ${entry.isChanged && html`<p class="faint">(edited)</p>`}
      <${Buttons} of=${entry.buttons} entry=${entry} tap=${tap} />
      ${entry.cards && html`<ul class="cards" tabindex="0" aria-label="Cards">${entry.cards.map((card) => html`<li class="item">
        ${card.imageUrl && html`<${Picture} url=${card.imageUrl} of=${card.title} />`}
        <p class="title"><bdi>${card.title}</bdi></p>${card.subtitle && html`<p class="faint"><bdi>${card.subtitle}</bdi></p>`}
        <${Buttons} of=${card.buttons} entry=${entry} tap=${tap} />
      </li>`)}</ul>`}
      ${entry.articles && html`<ul class="cards articles">${entry.articles.map((article) => html`<li class="item">
        ${article.picurl && html`<${Picture} url=${article.picurl} of=${article.title} />`}
        <p class="title"><bdi>${article.title}</bdi></p><p class="faint"><bdi>${article.description}</bdi></p><${Link} title="Read" url=${article.url} />
      </li>`)}</ul>`}
    </div>
    ${entry.quickReplies && isLast && html`<ul class="quick" aria-label="Quick replies">${entry.quickReplies.map((one) => html`<li>
      <button type="button" disabled=${one.number < 0} onClick=${() => tap(entry, one)}><bdi>${one.title}</bdi></button></li>`)}</ul>`}
    ${entry.error && html`<${Problem} problem=${entry.error} />`}
    ${why && html`<button type="button" class="small why" onClick=${() => go({ view: "why", moment: entry.moment })}>Why<span class="hidden"> this answer to ${entry.text}</span></button>`}
  </li>`;
};

const Body = ({ entry }) => html`
  ${entry.text && html`<p class="text" dir="auto">${entry.isTap ? html`<span class="tag">tapped</span> ` : ""}${entry.from && entry.type !== "TEXT" ? html`<span class="tag">${entry.type}</span> ` : ""}${entry.text}</p>`}
  ${entry.url && (entry.type === "IMAGE" ? html`<${Picture} url=${entry.url} />` : html`<p>${kindText(entry.type)}: <${Link} title=${entry.url} url=${entry.url} /></p>`)}
  ${entry.rest && html`<p class="faint">${kindText(entry.type)}</p><pre tabindex="0" aria-label="The message as it was sent">${entry.rest}</pre>`}`;

/** Picture is a link in place of a picture: the page loads nothing from other servers. */
const Picture = ({ url, of }) => html`<p class="picture"><span>Picture${of && html` of <bdi>${of}</bdi>`}</span> <${Link} title=${url} url=${url} /></p>`;

/** Link is a link if the address is HTTP or HTTPS, and otherwise text. */
const Link = ({ title, url }) => /^https?:\/\//i.test(url ?? "")
  ? html`<a href=${url} target="_blank" rel="noreferrer noopener"><bdi>${title}</bdi><span class="hidden"> (opens a new tab)</span></a>`
  : html`<bdi>${title} ${url}</bdi>`;

const Buttons = ({ of, entry, tap }) => of?.length > 0 && html`<ul class="buttons">${of.map((one) => html`<li>${one.url
  ? html`<${Link} title=${one.title} url=${one.url} />`
  : html`<button type="button" disabled=${one.number < 0} onClick=${() => tap(entry, one)}><bdi>${one.title}</bdi></button>`}</li>`)}</ul>`;

/** drafts are the unsent inputs, by form and person. */
const drafts = new Map();

/** useDraft is useState for unsent input, which it keeps while another chat is open. */
const useDraft = (key, empty) => {
  const [draft, setDraft] = useState(drafts.get(key) ?? empty);
  return [draft, (next) => { drafts.set(key, next); setDraft(next); }];
};

/** Composer is the form in which a person writes messages. */
export const Composer = ({ who, world, act }) => {
  const key = `text of ${who.id}`, [text, setText] = useDraft(key, "");
  const input = useRef();
  const submit = async (e) => {
    e.preventDefault();
    if (text.trim() === "") return;
    setText("");
    if (!await act("say", { person: who.id, text }) && drafts.get(key) === "") setText(text);
    input.current?.focus();
  };
  const keys = (e) => { if (e.key === "Enter" && !e.shiftKey && !e.isComposing) submit(e); };
  return html`<form class="composer" onSubmit=${submit}>
    <label class="hidden" for="say">Write as ${who.name}</label>
    <textarea id="say" rows="1" dir="auto" ref=${input} value=${text} placeholder=${`Write as ${who.name}`} onInput=${(e) => setText(e.target.value)} onKeyDown=${keys} onKeyPress=${(e) => { if (e.key === "Enter" && !e.shiftKey) e.preventDefault(); }}></textarea>
    <button class="main" disabled=${world.busy !== ""}>Send</button>
  </form>
  <${Attach} key=${who.id} who=${who} world=${world} act=${act} />`;
};

/** Attach sends anything but text: a file by its address, a location, or any event that the platform reports. */
const Attach = ({ who, world, act }) => {
  const empty = { kind: "IMAGE", url: "", latitude: "", longitude: "", type: "", data: "{}" };
  const [draft, setDraft] = useDraft(`something else of ${who.id}`, empty);
  const [wrong, setWrong] = useState(null), details = useRef(), { kind } = draft;
  const isFile = world.fileTypes.includes(kind);
  const event = ({ type, data, latitude, longitude }) => kind === "LOCATION"
    ? { type: kind, data: { lat: Number(latitude), long: Number(longitude) } }
    : { type, data: parsed(data) };
  const submit = async (e) => {
    e.preventDefault();
    const fields = fieldsOf(e.target);
    setWrong(null);
    try {
      const isDone = isFile ? await act("sendFile", { person: who.id, type: kind, url: fields.url }) : await act("sendEvent", { person: who.id, ...event(fields) });
      if (isDone) { setDraft({ ...empty, kind }); details.current.open = false; }
    } catch (err) {
      setWrong({ code: "InvalidArgument", message: `The data is not JSON: ${err.message}` });
    }
  };
  return html`<details class="attach" ref=${details}><summary>Send something other than text</summary>
    <form class="row" onSubmit=${submit} onInput=${(e) => setDraft({ ...draft, ...fieldsOf(e.currentTarget) })} aria-label="Send something else">
      <${Choose} label="What" name="kind" value=${kind} among=${[...world.fileTypes.map((one) => [one, kinds[one]]), ["LOCATION", "Location"], ["OTHER", "Any event"]]} />
      ${isFile && html`<${Field} label="Address"><input name="url" value=${draft.url} type="url" required autocomplete="off" placeholder="https://example.com/kettle.png" /></${Field}>`}
      ${kind === "LOCATION" && html`<${Field} label="Latitude"><input name="latitude" value=${draft.latitude} type="number" step="any" min="-90" max="90" required /></${Field}>
        <${Field} label="Longitude"><input name="longitude" value=${draft.longitude} type="number" step="any" min="-180" max="180" required /></${Field}>`}
      ${kind === "OTHER" && html`<${Field} label="Type"><input name="type" value=${draft.type} required autocomplete="off" placeholder="REFERRAL" /></${Field}>
        <${Field} label="Data, as JSON"><input name="data" value=${draft.data} required autocomplete="off" /></${Field}>`}
      <button disabled=${world.busy !== ""}>Send it</button>
    </form>
    <${Problem} problem=${wrong} />
  </details>`;
};
