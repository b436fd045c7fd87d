// Why a node answered, or none did.
import { html, useEffect, useRef, Table } from "./parts/elements.js";

const nodeText = (node) => (node.compositeId ? node.compositeId + (node.tree ? ` of the tree ${node.tree}` : "") : "");

const answerText = (choice) => ({
  node: `The node ${nodeText(choice.node)} answered${choice.isMute ? ", and since it is mute, another was chosen besides" : ""}.`,
  HandleFunc: `HandleFunc answered: ${choice.logic}.`,
  "live chat": "The live chat took it.",
})[choice.answer] ?? "Nothing answered.";

export const Why = ({ world, address }) => {
  const names = Object.fromEntries(world.members.map((one) => [one.id, one.name]));
  const marked = Number(address.moment), box = useRef();
  useEffect(() => { box.current?.scrollIntoView({ block: "nearest" }); }, [marked]);
  const shown = [...world.choices].reverse().slice(0, 50);
  return html`<h2>Why it was answered so</h2>
    ${shown.length === 0 && html`<p class="empty">Nobody said anything yet. Each event has an entry here: which node answered and why, or what each node refused.</p>`}
    ${shown.map((choice, i) => html`<article key=${world.choices.length - i} class=${`card ${choice.moment === marked ? "marked" : ""}`} ref=${choice.moment === marked ? box : undefined}>
      <h3><bdi>${world.moments[choice.moment]?.what}</bdi> <span class="faint"><bdi>${names[choice.member] ?? ""}</bdi> step ${choice.moment}</span></h3>
      <p><strong>${answerText(choice)}</strong></p>
      <p class="faint">The conversation stood at ${nodeText(choice.position) || "no node: the head nodes answer"}${choice.lost ? ` (${choice.lost}: as that of a new member)` : ""}.${choice.serving && ` What may answer now: ${choice.serving}.`}</p>
      <${Candidates} title="Asked, in this order" of=${choice.candidates} />
      ${choice.others.length > 0 && html`<details><summary>Nodes that could not answer (${choice.others.length})</summary><${Candidates} title="Nodes that could not answer" of=${choice.others} /></details>`}
    </article>`)}`;
};

const Candidates = ({ title, of }) => of.length > 0 && html`<${Table} caption=${title} rows=${of} columns=${[
  ["Node", (one) => nodeText(one.node)], ["Asked as", (one) => one.rule || "no candidate"], ["What came of it", (one) => one.why],
]} />`;
