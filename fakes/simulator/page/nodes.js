// The graph of nodes and the position of each member, as a drawing and as a table.
import { html, Table } from "./parts/elements.js";
import { answerText, inLiveChat } from "./why.js";

const keyOf = (node) => `${node.compositeId}\u0000${node.tree ?? ""}`;
const nameOf = (node) => (node.compositeId ? node.compositeId + (node.tree ? ` (${node.tree})` : "") : "somewhere");
const width = 168, height = 46, wide = 216, high = 64, most = 22;
const cut = (text) => ([...text].length > most ? [...text].slice(0, most - 1).join("") + "\u2026" : text);

/** across is the number of unconnected nodes in a row of the drawing. */
const across = 3;

/** placed returns the position of each node in the drawing: one column to the right of the first node that leads to
 * it. Unconnected nodes are below. */
const placed = (graph) => {
  const leads = graph.edges.filter((edge) => edge.from?.compositeId && edge.to?.compositeId && keyOf(edge.from) !== keyOf(edge.to));
  const column = new Map(), led = new Set(leads.map((edge) => keyOf(edge.to)));
  const visit = (from) => {
    for (let next = from; next.length > 0;) {
      const after = [];
      for (const key of next) for (const edge of leads) {
        const to = keyOf(edge.to);
        if (keyOf(edge.from) === key && !column.has(to)) { column.set(to, column.get(key) + 1); after.push(to); }
      }
      next = after;
    }
  };
  const roots = graph.nodes.map(keyOf).filter((key) => !led.has(key));
  roots.forEach((key) => column.set(key, 0));
  visit(roots);
  for (const key of graph.nodes.map(keyOf)) if (!column.has(key)) { column.set(key, 0); visit([key]); }
  const filled = new Map(), at = new Map();
  const isAlone = (node) => !leads.some((edge) => [keyOf(edge.from), keyOf(edge.to)].includes(keyOf(node)));
  for (const node of graph.nodes.filter((one) => !isAlone(one))) {
    const key = keyOf(node), x = column.get(key), y = filled.get(x) ?? 0;
    filled.set(x, y + 1);
    at.set(key, { x: 8 + x * wide, y: 8 + y * high, node });
  }
  const below = Math.max(0, ...filled.values()), alone = graph.nodes.filter(isAlone);
  alone.forEach((node, i) => at.set(keyOf(node), { x: 8 + (i % across) * wide, y: 8 + (below + Math.floor(i / across)) * high, node }));
  const columns = Math.max(1, Math.min(across, alone.length), ...[...filled.keys()].map((x) => x + 1));
  return { at, leads, columns, rows: below + Math.ceil(alone.length / across) };
};

const pathOf = (from, to) => {
  const [x1, y1, x2, y2] = [from.x + width, from.y + height / 2, to.x, to.y + height / 2];
  const bend = Math.max(30, Math.abs(x2 - x1) / 2);
  return `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`;
};

/** placeOf returns a sentence about a person's position. */
const placeOf = ({ name, position, isInLiveChat }) => {
  if (position === undefined) return html`<bdi>${name}</bdi> is an agent.`;
  const at = position.compositeId && html`<strong>${nameOf(position)}</strong>`;
  if (isInLiveChat) return html`<bdi>${name}</bdi> is ${inLiveChat}${at && html` The position is ${at}.`}`;
  return html`<bdi>${name}</bdi> ${at ? html`is at ${at}` : "is at no node: the head nodes may answer"}.`;
};

export const Nodes = ({ world, who }) => {
  const { graph } = world, drawn = placed(graph), here = new Map();
  for (const one of world.members.filter((other) => !other.group)) {
    const key = keyOf(one.position);
    if (one.position.compositeId) here.set(key, [...(here.get(key) ?? []), one]);
  }
  const standing = (node) => (here.get(keyOf(node)) ?? []).map((one) => one.name + (one.isInLiveChat ? " (in a live chat)" : "")).join(", ");
  const leadsTo = (node) => graph.edges.filter((edge) => edge.from && keyOf(edge.from) === keyOf(node)).map((edge) => `${nameOf(edge.to ?? {})} (${edge.kind})`).join(", ");
  const last = world.choices.findLast((one) => one.by === who.id), answered = last?.answer === "node" ? last.node : null;
  const size = { w: drawn.columns * wide, h: drawn.rows * high + 8 };
  return html`<h2>Nodes</h2>
    <p>${placeOf(who)}${last && html` Last message of <bdi>${who.name}</bdi>: <strong>${answerText(last)}</strong>`}</p>
    ${graph.nodes.length === 0 ? html`<p class="empty">The bot has no nodes: HandleFunc answers.</p>` : html`
    <div class="scrolls card drawing" tabindex="0" role="group" aria-label="Drawing of the nodes">
      <svg width=${size.w} height=${size.h} viewBox=${`0 0 ${size.w} ${size.h}`} role="img" aria-label=${`A graph of ${graph.nodes.length} nodes; the table below says the same.`}>
        <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z" /></marker></defs>
        ${drawn.leads.map((edge) => { const [from, to] = [drawn.at.get(keyOf(edge.from)), drawn.at.get(keyOf(edge.to))]; return from && to && html`<path class=${`edge ${edge.kind}`} d=${pathOf(from, to)} marker-end="url(#arrow)"><title>${nameOf(edge.from)} to ${nameOf(edge.to)}: ${edge.kind}</title></path>`; })}
        ${[...drawn.at.values()].map(({ x, y, node }) => html`<g class=${`node ${standing(node) ? "here" : ""} ${answered && keyOf(answered) === keyOf(node) ? "answered" : ""}`} transform=${`translate(${x},${y})`}>
          <title>${nameOf(node)}${node.trigger ? `: ${node.trigger}` : ""}</title><rect width=${width} height=${height} rx="8" />
          <text x="10" y="19" class="name">${cut(node.compositeId)}</text><text x="10" y="36" class="more">${cut(standing(node) ? `here: ${standing(node)}` : node.trigger ?? "")}</text></g>`)}
      </svg></div>
    <div class="card"><${Table} caption="Nodes" rows=${graph.nodes} columns=${[
      ["Node", nameOf], ["Trigger", (one) => one.trigger ?? ""], ["Leads to", leadsTo], ["Members here", standing],
    ]} /></div>`}
    ${graph.warnings?.length > 0 && html`<div class="card"><h3>Warnings</h3><ul class="plain">${graph.warnings.map((one) => html`<li>${nameOf(one.node)}: ${one.text}</li>`)}</ul></div>`}`;
};
