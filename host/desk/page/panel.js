// The panel about a chat's member: profile, tags, variables, the conversation with the bot, and earlier chats.
import { html, useEffect, useState, ask, Value } from "./parts/elements.js";
import { stampText } from "./list.js";
import { Entry, Refusal } from "./message.js";
import { pathOf, problemOf } from "./model.js";

/** useAsked returns the server's answer for a path. It asks again whenever the path or one of the values changes. */
export const useAsked = (path, ...values) => {
  const [state, setState] = useState({ of: null, found: null, problem: null });
  useEffect(() => {
    let isLeft = false;
    if (path) ask(path).then((found) => isLeft || setState({ of: path, found, problem: null }), (err) => isLeft || setState({ of: path, found: null, problem: problemOf(err) }));
    return () => { isLeft = true; };
  }, [path, ...values]);
  return state.of === path ? state : { of: path, found: null, problem: null };
};

export const Panel = ({ row, details, about, show }) => {
  const member = details?.member, app = about.apps.find((one) => one.id === row.app), inlet = app?.inlets[row.inlet];
  const fields = [
    ["Name", [member?.firstName, member?.lastName].filter(Boolean).join(" ")], ["E-mail", member?.email], ["Language", member?.locale],
    ["ID", member?.externalId], ["Known since", member?.createdAt && stampText(member.createdAt)], ["Channel", inlet && `${inlet.name} (${inlet.type})`],
    ["App", about.apps.length > 1 && row.app], ["Request", details?.summary], ["Label", row.label !== "default" && row.label],
  ].filter(([, value]) => value);
  return html`<aside class="panel" aria-label="About the member" tabindex="0">
    <section class="card"><h3>Member</h3>
      ${details && !member && html`<p class="empty">The member was erased.</p>`}
      <dl class="fields">${fields.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd><bdi>${value}</bdi></dd></div>`)}</dl>
      ${member?.tags.length > 0 && html`<ul class="choices" aria-label="Tags">${member.tags.map((tag) => html`<li class="tag" key=${tag}><bdi>${tag}</bdi></li>`)}</ul>`}
    </section>
    ${member && Object.keys(member.meta).length > 0 && html`<details class="card" open><summary>Variables</summary><${Value} value=${member.meta} /></details>`}
    ${details && Object.keys(details.meta).length > 0 && html`<details class="card"><summary>Variables of the request</summary><${Value} value=${details.meta} /></details>`}
    <${Transcript} key=${row.id} row=${row} />
    <${Earlier} key=${`earlier ${row.id}`} row=${row} show=${show} />
  </aside>`;
};

/** Transcript shows the member's conversation with the bot before the request. It is loaded when opened. */
const Transcript = ({ row }) => {
  const [state, setState] = useState({ entries: null, hasMore: false, problem: null });
  const load = async () => {
    const first = state.entries?.[0]?.at;
    try {
      const found = await ask(`${pathOf(row)}/transcript${first ? `?before=${first}` : ""}`);
      setState({ entries: [...found.entries, ...(state.entries ?? [])], hasMore: found.hasMore, problem: null });
    } catch (err) {
      setState({ ...state, problem: problemOf(err) });
    }
  };
  return html`<details class="card" onToggle=${(e) => { if (e.target.open && !state.entries) load(); }}><summary>Before, with the bot</summary>
    <${Refusal} problem=${state.problem} />
    ${state.entries?.length === 0 && html`<p class="empty">No earlier messages.</p>`}
    ${state.hasMore && html`<p><button type="button" class="small" onClick=${load}>Earlier</button></p>`}
    <ol class="transcript">${state.entries?.map((entry, i) => html`<li key=${i}><${Entry} entry=${entry} name=${row.name} /></li>`)}</ol>
  </details>`;
};

const Earlier = ({ row, show }) => {
  const { found, problem } = useAsked(`${pathOf(row)}/earlier`, row.state);
  return html`<section class="card"><h3>Earlier chats</h3>
    <${Refusal} problem=${problem} />
    ${found?.chats.length === 0 && html`<p class="empty">No earlier chats.</p>`}
    <ul class="earlier">${found?.chats.map((one) => html`<li key=${one.id}><button type="button" class="small" onClick=${() => show(one)}>
      ${stampText(one.since)}${one.agentName && html` with <bdi>${one.agentName}</bdi>`}${one.summary && html`: <bdi>${one.summary}</bdi>`}</button></li>`)}</ul>
  </section>`;
};
