// The entries of a log: messages of the member, the bot and agents, and notes. Content is never parsed as HTML, and
// nothing is loaded from other servers.
import { html, Value } from "./parts/elements.js";
import { stampText } from "./list.js";

/** Link is a link if the address is HTTP or HTTPS, and otherwise text. */
export const Link = ({ title, url }) => /^https?:\/\//i.test(url ?? "")
  ? html`<a href=${url} target="_blank" rel="noreferrer noopener nofollow"><bdi>${title || url}</bdi><span class="hidden"> (opens a new tab)</span></a>`
  : html`<bdi>${[title, url].filter(Boolean).join(" ")}</bdi>`;

const kinds = { IMAGE: "Picture", AUDIO: "Recording", VIDEO: "Video", FILE: "File" };

/** The fields of a response that Body knows. It lists all others as they are. */
const known = new Set(["type", "text", "url", "name", "buttons", "quickReplies", "carousel", "attachments", "payload", "title"]);

const list = (value) => (Array.isArray(value) ? value.filter((one) => one && typeof one === "object") : []);
const textOf = (value) => (value === undefined || value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value));

/** Body shows the response in a message. */
export const Body = ({ response }) => {
  const { type, text, url, name } = response, rest = Object.fromEntries(Object.entries(response).filter(([field]) => !known.has(field)));
  return html`
    ${text && html`<p class="text" dir="auto">${textOf(text)}</p>`}
    ${url && html`<p>${Object.hasOwn(kinds, type) ? kinds[type] : "Address"}: <${Link} title=${textOf(name) || textOf(url)} url=${textOf(url)} /></p>`}
    ${list(response.attachments).map((one, i) => html`<${Attachment} key=${i} of=${one} />`)}
    <${Choices} label="Buttons" of=${list(response.buttons)} /><${Choices} label="Quick replies" of=${list(response.quickReplies)} />
    ${list(response.carousel).map((card, i) => html`<div class="card" key=${i}><strong><bdi>${textOf(card.title)}</bdi></strong>
      ${card.subtitle && html`<span class="faint"><bdi>${textOf(card.subtitle)}</bdi></span>`}<${Choices} label="Buttons" of=${list(card.buttons)} /></div>`)}
    ${!text && response.payload !== undefined && html`<p>Chose <bdi>${textOf(response.title ?? response.payload)}</bdi></p>`}
    ${Object.keys(rest).length > 0 && html`<details><summary>${type === "TEXT" ? "More" : textOf(type)}</summary><${Value} value=${rest} /></details>`}`;
};

/** Attachment is a link to a file, the coordinates of a place, or another text from the platform. */
const Attachment = ({ of }) => {
  const url = textOf(of.url ?? of.payload?.url), at = of.payload?.coordinates;
  const title = [textOf(of.name ?? of.title), at ? `${textOf(at.lat)}, ${textOf(at.long)}` : url ? "" : textOf(of.payload)].filter(Boolean).join(" ");
  return html`<p>${textOf(of.type) || "File"}: <${Link} title=${title} url=${url} /></p>`;
};

const Choices = ({ of, label }) => of.length > 0 && html`<ul class="choices" aria-label=${label}>${of.map((one, i) => html`<li class="tag" key=${i}>
  ${one.url ? html`<${Link} title=${textOf(one.title)} url=${textOf(one.url)} />` : html`<bdi>${textOf(one.title ?? one.content_type)}</bdi>`}</li>`)}</ul>`;

/** The displayed texts of a chat's events. */
const happened = { ended: "ended the chat", "handed over": "handed the chat over" };

/** Entry shows an event, a message or a note. name is the member's. */
export const Entry = ({ entry, name }) => {
  if (entry.from === "desk") return html`<p class="event"><bdi>${entry.name}</bdi> ${Object.hasOwn(happened, entry.text) ? happened[entry.text] : entry.text} <${Stamp} at=${entry.at} /></p>`;
  const who = { member: name || "The member", bot: "Bot", note: `${entry.name}, a note` }[entry.from] ?? entry.name;
  return html`<div class=${`entry ${entry.from}`}>
    <p class="who"><bdi>${who}</bdi> <${Stamp} at=${entry.at} /></p>
    <div class="bubble">${entry.from === "note" ? html`<p class="text" dir="auto">${entry.text}</p>` : html`<${Body} response=${entry.response ?? {}} />`}</div>
  </div>`;
};

const Stamp = ({ at }) => (at ? html`<time datetime=${new Date(at).toISOString()}>${stampText(at)}</time>` : null);

/** Refusal shows why an action failed. Screen readers announce it at once. */
export const Refusal = ({ problem, close }) => problem && html`<div class="problem" role="alert">
  <p><bdi>${problem.message}</bdi></p>${close && html`<button type="button" class="small" onClick=${close}>Dismiss</button>`}
</div>`;
