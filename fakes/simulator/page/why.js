// For each step: which node answered and why, or why none did, the error, and the log.
import { html, useEffect, useRef, Problem, Table } from "./parts/elements.js";

const nodeText = (node) => (node.compositeId ? node.compositeId + (node.tree ? ` of the tree ${node.tree}` : "") : "");

/** answerText returns a sentence that names what answered. */
export const answerText = (choice) => ({
  node: `The node ${nodeText(choice.node)} answered${choice.isMute ? ", and as it is mute, another node was chosen, too" : ""}.`,
  HandleFunc: `HandleFunc answered: ${choice.logic}.`,
  "live chat": "It went to the live chat.",
})[choice.answer] ?? "Nothing answered.";

/** inLiveChat ends a sentence about a person in a live chat: it names what may answer. */
export const inLiveChat = "in a live chat: nodes of the live-chat tree may answer; otherwise an agent does.";

/** stoodText describes the conversation's position when the message arrived, and what could answer. */
const stoodText = (choice, by, isAgent) => {
  const stood = nodeText(choice.position);
  if (isAgent) return html`<bdi>${by}</bdi> is an agent and has no position.`;
  if (choice.isInLiveChat && (!stood || choice.lost)) return html`<bdi>${by ?? "The member"}</bdi> was ${inLiveChat}`;
  return `The conversation was at ${stood || "no node: the head nodes may answer"}${choice.lost ? ` (${choice.lost}: it counts as new)` : ""}.${choice.serving && ` In use: ${choice.serving}.`}`;
};

/** mostSteps is the number of steps that are shown. */
const mostSteps = 50;

export const Why = ({ world, address }) => {
  const names = Object.fromEntries([...world.members, ...world.agents].map((one) => [one.id, one.name]));
  const marked = Number(address.moment), box = useRef();
  useEffect(() => { box.current?.scrollIntoView({ block: "nearest" }); }, [marked]);
  const steps = world.moments.slice(0, world.at + 1).map((moment) => ({
    moment, choices: world.choices.filter((one) => one.moment === moment.number), lines: world.log.filter((one) => one.moment === moment.number),
  })).filter(({ moment, choices, lines }) => choices.length + lines.length > 0 || moment.error).reverse().slice(0, mostSteps);
  return html`<h2>Why this answer</h2>
    ${steps.length === 0 && html`<p class="empty">No messages yet. Each message gets an entry here: which node answered and why, or why each node did not.</p>`}
    ${steps.map(({ moment, choices, lines }) => html`<article key=${moment.number} class=${`card ${moment.number === marked ? "marked" : ""}`} ref=${moment.number === marked ? box : undefined}>
      <h3><bdi>${moment.what}</bdi> <span class="faint">step ${moment.number}</span></h3>
      ${moment.error && html`<${Problem} problem=${moment.error} />`}
      ${lines.length > 0 && html`<${Log} lines=${lines} />`}
      ${choices.map((choice) => html`<${Choice} choice=${choice} by=${names[choice.by]} isAgent=${world.agents.some((one) => one.id === choice.by)} isOneOfMany=${choices.length > 1} />`)}
    </article>`)}`;
};

const Choice = ({ choice, by, isAgent, isOneOfMany }) => html`
  <p>${isOneOfMany && by && html`<bdi>${by}</bdi>: `}<strong>${answerText(choice)}</strong></p>
  <p class="faint">${stoodText(choice, by, isAgent)}</p>
  <${Candidates} title="Asked, in this order" of=${choice.candidates.filter(wasAsked)} />
  <${More} title="Not asked, because another node had answered" of=${choice.candidates.filter((one) => !wasAsked(one))} />
  <${More} title="Nodes that could not answer" of=${choice.others} />`;

const wasAsked = (one) => !one.why.startsWith("was not asked");

const More = ({ title, of }) => of.length > 0 && html`<details><summary>${title} (${of.length})</summary><${Candidates} title=${title} of=${of} /></details>`;

const Candidates = ({ title, of }) => of.length > 0 && html`<${Table} caption=${title} rows=${of} columns=${[
  ["Node", (one) => nodeText(one.node)], ["Asked as", (one) => one.rule || "not a candidate"], ["Result", (one) => one.why],
]} />`;

/** Log shows the lines that were logged, for example by a script's console.log. */
const Log = ({ lines }) => html`<ul class="lines" aria-label="What was logged">${lines.map((one) => html`<li>
  ${one.level !== "INFO" && html`<span class=${`tag ${one.level === "DEBUG" ? "" : "bad"}`}>${one.level}</span> `}<bdi>${one.text}</bdi>
  ${one.more && html` <span class="faint"><bdi>${one.more.join(", ")}</bdi></span>`}</li>`)}</ul>`;
