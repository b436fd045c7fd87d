// Faults: in one call of an operation, in services and channels, and in the bot's process.
import { html, useState, Choose, Field, fieldsOf } from "./parts/elements.js";

const kinds = [["fails", "fails"], ["late", "is late"], ["timesOut", "succeeds, but times out"], ["at", "the process crashes before it"], ["after", "the process crashes after it"], ["down", "it goes out of service for a while"]];

/** quoted returns the name of an account, a channel or a person in quotes, as the line of a fault needs it. */
const quoted = (name) => JSON.stringify(name);

export const Faults = ({ world, act }) => {
  const { planned, out, isDown } = world.faults;
  const switchedOff = world.channels.filter((one) => one.platform && !one.isOn).map((one) => one.id);
  const fault = (line) => act("fault", { line });
  return html`
    <div class="card"><h2>Faults now</h2>
      ${planned.length + out.length + switchedOff.length === 0 && !isDown && html`<p class="empty">None: everything is in service, and no fault is planned.</p>`}
      <ul class="plain">
        ${planned.map((one) => html`<li><span class="tag bad">planned</span> ${one}</li>`)}
        ${out.map((one) => html`<li><span class="tag bad">out</span> <bdi>${one}</bdi></li>`)}
        ${switchedOff.map((one) => html`<li><span class="tag bad">off</span> <bdi>${one}</bdi> is switched off</li>`)}
        ${isDown && html`<li><span class="tag bad">down</span> The bot's process has crashed: nothing answers.</li>`}
      </ul>
      <p class="row"><button type="button" disabled=${isDown} class="bad" onClick=${() => act("crash")}>Crash the process</button>
        <button type="button" onClick=${() => act("restart")}>Restart it</button></p>
    </div>
    <${OneCall} world=${world} fault=${fault} />
    <${Refusals} world=${world} fault=${fault} />
    <form class="card" onSubmit=${(e) => { e.preventDefault(); fault(fieldsOf(e.target).line); }}><h2>Any fault</h2>
      <div class="row"><${Field} label="As in a conversation"><input name="line" required defaultValue="The next message comes twice" autocomplete="off" /></${Field}><button>Plan it</button></div>
    </form>
    <div class="card"><h2>In service</h2>
      <p class="faint">Untick a box to take it out of service.</p>
      <${Switches} title="Services" of=${world.services.map((one) => [one, one])} out=${out} off=${(one) => fault(`Out of service: ${one}`)} on=${(one) => fault(`Back in service: ${one}`)} />
      <${Switches} title="Channels that can be reached" of=${world.channels.map((one) => [one.id, `the channel ${one.id}`])} out=${out} off=${(one) => fault(`Out of service: channel ${quoted(one)}`)} on=${(one) => fault(`Back in service: channel ${quoted(one)}`)} />
      <${Switches} title="People who can be reached" of=${[...world.members.filter((one) => !one.group), ...world.agents].map((one) => [one.name, `messages to ${one.name}`])} out=${out} off=${(one) => fault(`Out of service: messages to ${quoted(one)}`)} on=${(one) => fault(`Back in service: messages to ${quoted(one)}`)} />
      <${Switches} title="Channels that are switched on" of=${world.channels.map((one) => [one.id, one.id])} out=${switchedOff}
        off=${(one) => act("switch", { channel: one, on: false })} on=${(one) => act("switch", { channel: one, on: true })} />
    </div>`;
};

/** OneCall plans a fault in one call of an operation, or in one request to a service. */
const OneCall = ({ world, fault }) => {
  const [kind, setKind] = useState("fails");
  const [target, setTarget] = useState("sendResponse");
  const isService = world.services.includes(target);
  const submit = (e) => {
    e.preventDefault();
    const { nth, code, late, long } = fieldsOf(e.target);
    const call = isService ? `request ${nth} to ${target}` : `call ${nth} of ${target}`, first = call[0].toUpperCase() + call.slice(1);
    fault({
      fails: `${first} fails: ${code}`, late: `${first} is ${late}s late`, timesOut: `${first} times out`,
      at: `The process crashes at ${call}`, after: `The process crashes after ${call}`, down: `Out of service for ${long}s from request ${nth} on: ${target}`,
    }[kind]);
  };
  return html`<form class="card" onSubmit=${submit}><h2>A fault in one call</h2>
    <div class="row">
      <${Choose} label="Operation or service" name="operation" value=${target} onChange=${(one) => { setTarget(one); setKind("fails"); }} among=${[...world.operations, ...world.services]} />
      <${Choose} label="What happens" name="kind" value=${kind} onChange=${setKind} among=${kinds.filter(([one]) => isService || one !== "down")} />
      ${kind === "fails" && html`<${Choose} label="Code" name="code" value="Unavailable" among=${world.codes} />`}
      ${kind === "late" && html`<${Field} label="Seconds"><input name="late" type="number" min="1" defaultValue="30" required /></${Field}>`}
      ${kind === "down" && html`<${Field} label="For how many seconds"><input name="long" type="number" min="1" defaultValue="60" required /></${Field}>`}
      <${Field} label="Which call"><input name="nth" type="number" min="1" defaultValue="1" required /></${Field}>
      <button class="main">Plan it</button>
    </div>
  </form>`;
};

/** Refusals makes the next charge, mail or upload fail, or the mails to an address bounce. */
const Refusals = ({ world, fault }) => {
  const asks = (does) => (e) => { e.preventDefault(); does(fieldsOf(e.target)); };
  const addresses = world.members.map((one) => one.record.email).filter(Boolean);
  return html`<div class="card"><h2>A failing service</h2>
    ${world.accounts.length > 0 && html`<form class="row" onSubmit=${asks(({ account, code }) => fault(`The next charge of ${quoted(account)} is declined: ${code}`))} aria-label="The next charge is declined">
      <${Choose} label="Account" name="account" among=${world.accounts} />
      <${Field} label="The next charge is declined for"><input name="code" required defaultValue="insufficient_funds" autocomplete="off" /></${Field}><button>Decline it</button></form>`}
    <form class="row" onSubmit=${asks(({ address }) => fault(`Mail to ${address} bounces`))} aria-label="Mail bounces">
      <${Field} label="Mail bounces at this address"><input name="address" type="email" required defaultValue=${addresses[0] ?? ""} autocomplete="off" placeholder="ada@example.com" /></${Field}><button>Let it bounce</button></form>
    <form class="row" onSubmit=${asks(({ what, code }) => fault(`The next ${what} fails: ${code}`))} aria-label="The next mail or upload fails">
      <${Choose} label="The next" name="what" value="mail" among=${[["mail", "mail"], ["file", "upload"]]} />
      <${Choose} label="Fails with" name="code" value="Unavailable" among=${world.codes} /><button>Let it fail</button></form>
  </div>`;
};

/** Switches has a checkbox for each item that can be taken out of service. */
const Switches = ({ title, of, out, off, on }) => html`<fieldset><legend>${title}</legend><ul class="switches">${of.map(([id, what]) => html`<li key=${id}>
  <label><input type="checkbox" checked=${!out.includes(what)} onChange=${(e) => (e.target.checked ? on(id) : off(id))} /> <bdi>${what.replace(/^messages to /, "")}</bdi></label></li>`)}</ul></fieldset>`;
