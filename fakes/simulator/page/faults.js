// What goes wrong: one call of an operation, what is out of service, and the process of the bot.
import { html, useState, Choose, Field, fieldsOf } from "./parts/elements.js";

const kinds = [["fail", "fails"], ["delay", "is late"], ["timeOut", "succeeds, but times out"], ["crashAt", "the process crashes before it"], ["crashAfter", "the process crashes after it"]];

export const Faults = ({ world, act }) => {
  const { planned, out, isDown } = world.faults;
  return html`
    <div class="card"><h2>Faults now</h2>
      ${planned.length + out.length === 0 && !isDown && html`<p class="empty">None: everything is in service, and no fault is planned.</p>`}
      <ul class="plain">
        ${planned.map((one) => html`<li><span class="tag bad">planned</span> ${one}</li>`)}
        ${out.map((one) => html`<li><span class="tag bad">out</span> <bdi>${one}</bdi></li>`)}
        ${isDown && html`<li><span class="tag bad">down</span> The bot's process has crashed: nothing answers.</li>`}
      </ul>
      <p class="row"><button type="button" disabled=${isDown} class="bad" onClick=${() => act("crash")}>Crash the process</button>
        <button type="button" onClick=${() => act("restart")}>Restart it</button></p>
    </div>
    <${OneCall} world=${world} act=${act} />
    <${Refusals} world=${world} act=${act} />
    <div class="card"><h2>In service</h2>
      <p class="faint">Untick a box to take it out of service.</p>
      <${Switches} title="Services" of=${world.services.map((one) => [one, one])} out=${out} off=${(one) => act("disconnectService", { service: one })} on=${(one) => act("reconnectService", { service: one })} />
      <${Switches} title="Channels that can be reached" of=${world.channels.map((one) => [one.id, `channel ${one.id}`])} out=${out} off=${(one) => act("disconnect", { channel: one })} on=${(one) => act("reconnect", { channel: one })} />
      <${Switches} title="People who can be reached" of=${[...world.members.filter((one) => !one.group), ...world.agents].map((one) => [one.id, `messages to ${one.name}`])} out=${out} off=${(one) => act("refuse", { person: one })} on=${(one) => act("accept", { person: one })} />
      <${Switches} title="Channels that are switched on" of=${world.channels.map((one) => [one.id, `channel ${one.id} (switched off)`])} out=${out}
        off=${(one) => act("switch", { channel: one, on: false })} on=${(one) => act("switch", { channel: one, on: true })} />
    </div>`;
};

/** OneCall plans a fault of one call. */
const OneCall = ({ world, act }) => {
  const [kind, setKind] = useState("fail");
  const submit = (e) => {
    e.preventDefault();
    const { operation, nth, code, late } = fieldsOf(e.target), having = { operation, nth: Number(nth) };
    if (kind === "fail") having.code = code;
    if (kind === "delay") having.late = `${late}s`;
    if (kind === "crashAfter") having.after = true;
    act(kind === "crashAfter" ? "crashAt" : kind, having);
  };
  return html`<form class="card" onSubmit=${submit}><h2>A fault in one call</h2>
    <div class="row">
      <${Choose} label="Operation" name="operation" value="sendResponse" among=${world.operations} />
      <${Choose} label="What happens" name="kind" value=${kind} onChange=${setKind} among=${kinds} />
      ${kind === "fail" && html`<${Choose} label="Code" name="code" value="Unavailable" among=${world.codes} />`}
      ${kind === "delay" && html`<${Field} label="Seconds"><input name="late" type="number" min="1" defaultValue="30" required /></${Field}>`}
      <${Field} label="Which call"><input name="nth" type="number" min="1" defaultValue="1" required /></${Field}>
      <button class="main">Plan it</button>
    </div>
  </form>`;
};

/** Refusals are what payment providers, mail services and stores of files refuse. */
const Refusals = ({ world, act }) => {
  const asks = (what) => (e) => { e.preventDefault(); act(what, fieldsOf(e.target)); };
  const fails = (e) => {
    e.preventDefault();
    const { what, code } = fieldsOf(e.target);
    act(what, { code });
  };
  const addresses = world.members.map((one) => one.record.email).filter(Boolean);
  return html`<div class="card"><h2>A failing service</h2>
    ${world.accounts.length > 0 && html`<form class="row" onSubmit=${asks("declineCharge")} aria-label="The next charge is declined">
      <${Choose} label="Account" name="account" among=${world.accounts} />
      <${Field} label="The next charge is declined for"><input name="code" required defaultValue="insufficient_funds" autocomplete="off" /></${Field}><button>Decline it</button></form>`}
    <form class="row" onSubmit=${asks("bounce")} aria-label="Mail bounces">
      <${Field} label="Mail bounces at this address"><input name="address" type="email" required defaultValue=${addresses[0] ?? ""} autocomplete="off" placeholder="ada@example.com" /></${Field}><button>Let it bounce</button></form>
    <form class="row" onSubmit=${fails} aria-label="The next mail or upload fails">
      <${Choose} label="The next" name="what" value="failMail" among=${[["failMail", "mail"], ["failFile", "upload"]]} />
      <${Choose} label="Fails with" name="code" value="Unavailable" among=${world.codes} /><button>Let it fail</button></form>
  </div>`;
};

/** Switches takes things out of service, and back. */
const Switches = ({ title, of, out, off, on }) => html`<fieldset><legend>${title}</legend><ul class="switches">${of.map(([id, what]) => html`<li key=${id}>
  <label><input type="checkbox" checked=${!out.includes(what)} onChange=${(e) => (e.target.checked ? on(id) : off(id))} /> <bdi>${what.replace(/^(channel|messages to) | \(switched off\)$/g, "")}</bdi></label></li>`)}</ul></fieldset>`;
