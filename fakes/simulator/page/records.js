// The records, newest first: members, agendas, requests for a person, data, and everything that the bot sent.
import { html, useEffect, useRef, clockText, counted, sizeText, timeText, Table, Value, written } from "./parts/elements.js";

export const Records = ({ world, who, act }) => {
  const names = Object.fromEntries([...world.members, ...world.agents].map((one) => [one.id, one.name]));
  const sections = [
    ...world.members.filter((one) => !one.group).map((one) => [`member.${one.id}`, html`Member <bdi>${one.name}</bdi>`, one.record, html`<${Value} value=${one.record} />`, one.id === who.member]),
    ["agendas", `Agendas (${world.agendas.length})`, world.agendas, html`<${List} of=${world.agendas} empty="No agendas are scheduled." />`],
    ["assignments", `Requests for a person (${world.assignments.length})`, world.assignments, html`<${List} of=${world.assignments.toReversed()} empty="No requests." />`],
    ...world.data.map((one) => [`data.${one.name}`, html`Data source <bdi>${one.name}</bdi> (${one.count})`, one, html`<${List} of=${one.entries.toReversed()} empty="No entries." more=${one.count - one.entries.length} />`]),
    ["outbox", `Outbox (${world.outbox.length})`, world.outbox, html`<${Table} caption="Outbox" rows=${world.outbox.toReversed()} empty="Nothing was sent." columns=${[
      ["At", (one) => clockText(one.at)], ["Channel", (one) => one.channel], ["To", (one) => html`<bdi>${one.to}</bdi>`], ["Type", (one) => one.type], ["Text", (one) => html`<bdi>${one.isTakenBack ? "(deleted)" : one.text || one.url || one.rest || counted(one.cards?.length ?? 0, "card")}</bdi>`],
    ]} />`],
    ["mails", `Mails (${world.mails.length})`, world.mails, html`<${Table} caption="Mails" rows=${world.mails.toReversed()} empty="No mail was sent." columns=${[
      ["Subject", (one) => html`<bdi>${one.text}</bdi>`], ["To", (one) => one.who], ["At", (one) => clockText(one.at)], ["Text", (one) => html`<pre tabindex="0" aria-label="Text of the mail">${one.details[0]}</pre>`],
    ]} />`],
    ["payments", `Payments (${world.payments.length})`, world.payments, html`<${List} of=${world.payments.toReversed()} empty="No payments, or no account is watched." />`],
    ["files", `Files (${world.files.length})`, world.files, html`<${Table} caption="Files" rows=${world.files.toReversed()} empty="No file was uploaded." columns=${[["Key", (one) => one.key], ["Type", (one) => one.type], ["Size", (one) => sizeText(one.size)]]} />`],
    ["dead", `Dead letters (${world.deadLetters.length})`, world.deadLetters, html`<${DeadLetters} of=${world.deadLetters.toReversed()} act=${act} />`],
    ["transcript", "Transcript", world.transcript, html`<pre class="transcript" tabindex="0" aria-label="Transcript">${world.transcript}</pre>`],
  ];
  return html`<h2>Records</h2><p class="faint">${counted(sections.length, "section")}. Changes of the last step are marked.</p>
    ${sections.map(([id, title, value, body, isOpen]) => html`<${Section} key=${`${world.branch}.${id}`} title=${title} value=${value} at=${`${world.branch}.${world.at}`} isOpen=${isOpen} nameOf=${names}>${body}</${Section}>`)}`;
};

/** Section is a part that can be opened. It is marked if its value changed in the last step. */
const Section = ({ title, value, at, isOpen, children }) => {
  const text = written(value), known = useRef({ at, text, isChanged: false });
  if (known.current.at !== at) known.current = { at, text, isChanged: known.current.text !== text };
  // The newest lines of a transcript are at its end.
  const shown = ({ target }) => { for (const one of target.querySelectorAll(".transcript")) one.scrollTop = one.scrollHeight; };
  return html`<details class="card" open=${isOpen} onToggle=${shown}><summary>${title}${known.current.isChanged && html` <span class="tag new">changed</span>`}</summary>${children}</details>`;
};

const List = ({ of, empty, more = 0 }) => html`
  ${of.length === 0 && html`<p class="empty">${empty}</p>`}
  <ol class="records">${of.map((one) => html`<li><${Value} value=${one} /></li>`)}</ol>
  ${more > 0 && html`<p class="faint">and ${counted(more, "older one")}</p>`}`;

const DeadLetters = ({ of, act }) => html`<${Table} caption="Dead letters" rows=${of} empty="No dead letters. With fakes.WithInbox, events whose runs fail for good are kept here." columns=${[
  ["From", (one) => one.from], ["Given up", (one) => timeText(one.at)], ["Error", (one) => html`<strong>${one.code}</strong> <bdi>${one.error}</bdi>`],
  ["", (one) => html`<span class="row"><button type="button" class="small" onClick=${() => act("retryDeadLetter", { id: one.id })}>Try again</button>
    <button type="button" class="small bad" onClick=${() => act("discardDeadLetter", { id: one.id })}>Discard</button></span>`],
]} />`;
