// The agent's desk: tickets to take, and the conversation with a member.
import { html, distanceText } from "./parts/elements.js";
import { Composer, Log } from "./chat.js";

export const Desk = ({ world, who, act, go }) => {
  const open = who.tickets.filter((one) => one.isOpen), others = who.tickets.filter((one) => !one.isOpen);
  return html`<div class="chat desk" data-platform=${who.platform}>
    <div class="card tickets"><h2>Tickets</h2>
      ${open.length === 0 && html`<p class="empty">No open tickets. A bot asks for a person with createAssignment.</p>`}
      <ul>${open.map((one) => html`<li key=${one.message} class="ticket">
        <p class="text" dir="auto">${one.text}</p><p class="faint">${one.group}, ${distanceText(one.at, world.now)}</p>
        <button type="button" class="main" onClick=${() => act("take", { person: who.id, message: one.message })}>Take<span class="hidden"> the ticket: ${one.text}</span></button>
      </li>`)}</ul>
      ${others.length > 0 && html`<details><summary>Earlier tickets (${others.length})</summary>
        <ul>${others.map((one) => html`<li key=${one.message} class="ticket"><p class="text faint" dir="auto">${one.text}</p></li>`)}</ul></details>`}
    </div>
    <${Log} world=${world} who=${who} go=${go} tap=${() => {}} />
    <${Composer} who=${who} world=${world} act=${act} />
    <p><button type="button" onClick=${() => act("end", { person: who.id })}>End the live chat</button></p>
  </div>`;
};
