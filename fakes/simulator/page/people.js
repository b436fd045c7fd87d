// The members and agents: buttons to choose who speaks, and forms to add more.
import { html, useRef, Choose, Field, fieldsOf } from "./parts/elements.js";

export const People = ({ world, who, act, go }) => {
  const pick = (one) => html`<li key=${one.id}><button type="button" class="person" aria-pressed=${one === who} onClick=${() => go({ who: one.id, view: "chat" })}>
    <span class="face" aria-hidden="true" data-platform=${one.platform}>${[...one.name][0]}</span>
    <span><bdi>${one.name}</bdi> <small class="faint">${one.platform}${one.group ? ", group" : ""}${world.agents.includes(one) ? ", agent" : ""}</small>
      ${one.isInLiveChat && html` <span class="tag">live chat</span>`}
      ${one.tickets?.some((ticket) => ticket.isOpen) && html` <span class="tag new">ticket</span>`}</span>
  </button></li>`;
  return html`<div class="people">
    <ul aria-label="Who speaks">${world.members.map(pick)}${world.agents.map(pick)}</ul>
    <${Add} world=${world} act=${act} go=${go} />
  </div>`;
};

const Add = ({ world, act }) => {
  const details = useRef();
  const submit = (kind) => async (e) => {
    e.preventDefault();
    const form = e.target, { name, where } = fieldsOf(form), [isNew, id] = [where.startsWith("new:"), where.slice(4)];
    const having = kind === "addAgent" ? { name, channel: where } : isNew ? { name, platform: id } : { name, channel: id };
    if (await act(kind, having)) { form.reset(); details.current.open = false; }
  };
  const join = async (e) => {
    e.preventDefault();
    const form = e.target;
    if (await act("joinGroup", fieldsOf(form))) { form.reset(); details.current.open = false; }
  };
  const joiners = world.members.filter((one) => !one.group && world.groups.includes(one.platform));
  const inlets = world.channels.filter((one) => !world.channels.some((other) => other.outlets.includes(one.id)));
  const outlets = world.channels.filter((one) => !inlets.includes(one));
  return html`<details class="add" ref=${details}><summary>Add someone</summary>
    <form onSubmit=${submit("addMember")} class="row" aria-label="Add a member">
      <${Field} label="Name of the member"><input name="name" required autocomplete="off" maxlength="100" /></${Field}>
      <${Choose} label="Channel" name="where" among=${[
        ...inlets.map((one) => [`old:${one.id}`, `${one.id} (${one.platform})`]),
        ...world.platforms.map((one) => [`new:${one}`, `a new ${one} channel`]),
      ]} />
      <button>Add member</button>
    </form>
    ${outlets.length > 0 && html`<form onSubmit=${submit("addAgent")} class="row" aria-label="Add an agent">
      <${Field} label="Name of the agent"><input name="name" required autocomplete="off" maxlength="100" /></${Field}>
      <${Choose} label="Channel" name="where" among=${outlets.map((one) => [one.id, `${one.id} (${one.platform})`])} />
      <button>Add agent</button>
    </form>`}
    ${joiners.length > 0 && html`<form onSubmit=${join} class="row" aria-label="Let a member join a group">
      <${Choose} label="Member" name="person" among=${joiners.map((one) => [one.id, `${one.name} (${one.platform})`])} />
      <${Field} label="Group"><input name="group" required autocomplete="off" maxlength="60" placeholder="family" /></${Field}>
      <button>Join group</button>
    </form>`}
  </details>`;
};
