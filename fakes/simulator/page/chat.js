// A member's conversation, with the look of its platform: how messages, buttons, quick replies and cards
// stand there.
import { html, useEffect, useRef, useState, clockText, timeText, Choose, Field, fieldsOf, parsed, Problem } from "./parts/elements.js";

/** What a type of message is, in words. */
const kinds = { IMAGE: "Picture", AUDIO: "Recording", VIDEO: "Film", FILE: "File", TEMPLATE: "Template", TICKET: "Ticket" };
const kindText = (type) => (Object.hasOwn(kinds, type) ? kinds[type] : type);

export const Chat = ({ world, who, act, go }) => html`<div class="chat" data-platform=${who.platform}>
  <${Log} world=${world} who=${who} act=${act} go=${go} tap=${(entry, button) => act("tap", { person: who.id, message: entry.id, number: button.number })} />
  <${Composer} who=${who} world=${world} act=${act} />
</div>`;

/** Log shows what was said, and stays at the end. */
export const Log = ({ world, who, tap, go }) => {
  const box = useRef(), end = who.talk.length;
  useEffect(() => { box.current.scrollTop = box.current.scrollHeight; }, [end, who.id]);
  return html`<div class="log" role="log" aria-live="polite" aria-label=${`Conversation of ${who.name}`} tabindex="0" ref=${box}>
    ${end === 0 && html`<p class="empty">Nothing was said yet. ${who.isInLiveChat === undefined ? "" : `Say something as ${who.name}.`}</p>`}
    <ol>${who.talk.map((entry, i) => html`<${Entry} key=${`${entry.moment}.${i}`} entry=${entry} world=${world} who=${who} tap=${tap} go=${go} isLast=${i === end - 1} />`)}</ol>
    ${world.busy && html`<p class="empty">The bot is at work.</p>`}
  </div>`;
};

const Entry = ({ entry, world, who, tap, go, isLast }) => {
  const from = entry.from || world.bot;
  const why = entry.isIn && world.choices.some((one) => one.moment === entry.moment);
  return html`<li class=${`entry ${entry.isIn ? "in" : "out"}`}>
    <p class="who"><span class="face" aria-hidden="true">${[...from][0]}</span><bdi>${from}</bdi>
      <time datetime=${entry.at} title=${timeText(entry.at)}>${clockText(entry.at)}</time></p>
    <div class="bubble">
      ${entry.isTakenBack ? html`<p class="faint">(taken back)</p>` : html`<${Body} entry=${entry} />`}
      ${entry.isChanged && html`<p class="faint">(changed)</p>`}
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
    ${why && html`<button type="button" class="small why" onClick=${() => go({ view: "why", moment: entry.moment })}>Why<span class="hidden"> this was answered so: ${entry.text}</span></button>`}
  </li>`;
};

const Body = ({ entry }) => html`
  ${entry.text && html`<p class="text" dir="auto">${entry.isTap ? html`<span class="tag">tapped</span> ` : ""}${entry.from && entry.type !== "TEXT" ? html`<span class="tag">${entry.type}</span> ` : ""}${entry.text}</p>`}
  ${entry.url && (entry.type === "IMAGE" ? html`<${Picture} url=${entry.url} />` : html`<p>${kindText(entry.type)}: <${Link} title=${entry.url} url=${entry.url} /></p>`)}
  ${entry.rest && html`<p class="faint">${kindText(entry.type)}</p><pre tabindex="0" aria-label="The message as it was sent">${entry.rest}</pre>`}`;

/** Picture stands for a picture: the page loads nothing from elsewhere. */
const Picture = ({ url, of }) => html`<p class="picture"><span>Picture${of && html` of <bdi>${of}</bdi>`}</span> <${Link} title=${url} url=${url} /></p>`;

/** Link is a link to a site, and a text where it leads elsewhere. */
const Link = ({ title, url }) => /^https?:\/\//i.test(url ?? "")
  ? html`<a href=${url} target="_blank" rel="noreferrer noopener"><bdi>${title}</bdi><span class="hidden"> (opens a new tab)</span></a>`
  : html`<bdi>${title} ${url}</bdi>`;

const Buttons = ({ of, entry, tap }) => of?.length > 0 && html`<ul class="buttons">${of.map((one) => html`<li>${one.url
  ? html`<${Link} title=${one.title} url=${one.url} />`
  : html`<button type="button" disabled=${one.number < 0} onClick=${() => tap(entry, one)}><bdi>${one.title}</bdi></button>`}</li>`)}</ul>`;

/** drafts are what people have begun to write, by what it is and whose. */
const drafts = new Map();

/** useDraft is useState for what somebody has not sent yet: it is there again when their chat is. */
const useDraft = (key, empty) => {
  const [draft, setDraft] = useState(drafts.get(key) ?? empty);
  return [draft, (next) => { drafts.set(key, next); setDraft(next); }];
};

/** Composer is where a person writes. */
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
    <label class="hidden" for="say">Say as ${who.name}</label>
    <textarea id="say" rows="1" dir="auto" ref=${input} value=${text} placeholder=${`Say as ${who.name}`} onInput=${(e) => setText(e.target.value)} onKeyDown=${keys} onKeyPress=${(e) => { if (e.key === "Enter" && !e.shiftKey) e.preventDefault(); }}></textarea>
    <button class="main" disabled=${world.busy !== ""}>Send</button>
  </form>
  <${Attach} key=${who.id} who=${who} world=${world} act=${act} />`;
};

/** Attach sends what is no text: a file by its address, a location, or any event that the platform of a person reports. */
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
      setWrong({ code: "InvalidArgument", message: `The data is not valid JSON: ${err.message}` });
    }
  };
  return html`<details class="attach" ref=${details}><summary>Send something else than a text</summary>
    <form class="row" onSubmit=${submit} onInput=${(e) => setDraft({ ...draft, ...fieldsOf(e.currentTarget) })} aria-label="Send something else">
      <${Choose} label="What" name="kind" value=${kind} among=${[...world.fileTypes.map((one) => [one, kinds[one]]), ["LOCATION", "Location"], ["OTHER", "Any event"]]} />
      ${isFile && html`<${Field} label="Its address"><input name="url" value=${draft.url} type="url" required autocomplete="off" placeholder="https://example.com/kettle.png" /></${Field}>`}
      ${kind === "LOCATION" && html`<${Field} label="Latitude"><input name="latitude" value=${draft.latitude} type="number" step="any" min="-90" max="90" required /></${Field}>
        <${Field} label="Longitude"><input name="longitude" value=${draft.longitude} type="number" step="any" min="-180" max="180" required /></${Field}>`}
      ${kind === "OTHER" && html`<${Field} label="Its type"><input name="type" value=${draft.type} required autocomplete="off" placeholder="REFERRAL" /></${Field}>
        <${Field} label="Its data, as JSON"><input name="data" value=${draft.data} required autocomplete="off" /></${Field}>`}
      <button disabled=${world.busy !== ""}>Send it</button>
    </form>
    <${Problem} problem=${wrong} />
  </details>`;
};
