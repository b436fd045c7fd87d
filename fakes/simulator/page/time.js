// The virtual clock: forms that move it, and the scheduled agendas.
import { html, distanceText, timeText, Choose, Field, fieldsOf, Table } from "./parts/elements.js";

const steps = [["1m", "1 minute"], ["1h", "1 hour"], ["24h", "1 day"], ["168h", "1 week"]];
const units = [["s", "seconds"], ["m", "minutes"], ["h", "hours"], ["d", "days"]];

export const Time = ({ world, act }) => {
  const names = Object.fromEntries(world.members.map((one) => [one.id, one.name]));
  const wait = (e) => {
    e.preventDefault();
    const { amount, unit } = fieldsOf(e.target);
    act("advance", { by: unit === "d" ? `${amount * 24}h` : `${amount}${unit}` });
  };
  const until = (e) => {
    e.preventDefault();
    act("advanceTo", { to: new Date(`${fieldsOf(e.target).to}Z`).toISOString() });
  };
  return html`
    <div class="card"><h2>It is <time datetime=${world.now}>${timeText(world.now)}</time></h2>
      <div class="row" role="group" aria-label="Let time pass">${steps.map(([by, text]) => html`<button type="button" onClick=${() => act("advance", { by })}>${text}</button>`)}
        <button type="button" class="main" disabled=${world.agendas.length === 0} onClick=${() => act("next")}>Until the next agenda</button></div>
      <form class="row" onSubmit=${wait} aria-label="Let any time pass">
        <${Field} label="Move the clock by"><input name="amount" type="number" min="0" step="1" defaultValue="30" required /></${Field}>
        <${Choose} label="Unit" name="unit" value="m" among=${units} /><button>Move</button>
      </form>
      <form class="row" onSubmit=${until} aria-label="Go to a time">
        <${Field} label="Move the clock to (UTC)"><input name="to" type="datetime-local" step="1" min=${world.now.slice(0, 19)} defaultValue=${world.now.slice(0, 19)} required /></${Field}><button>Move</button>
      </form>
    </div>
    <div class="card"><h2>Scheduled</h2>
      <${Table} caption="Agendas" rows=${world.agendas} empty="No agendas are scheduled." columns=${[
        ["Node", (one) => one.nodeCompositeId], ["For", (one) => names[one.member] ?? one.member],
        ["Due", (one) => html`${timeText(one.nextRunAt)} <span class="faint">(${distanceText(one.nextRunAt, world.now)})</span>`],
        ["More", (one) => [one.tag && `tag ${one.tag}`, one.pattern && `then ${one.pattern}`, one.failures && `failed ${one.failures} times`].filter(Boolean).join(", ")],
      ]} />
    </div>`;
};
