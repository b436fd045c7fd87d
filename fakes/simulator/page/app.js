// The simulator's page. It shows the world that the server sends, and posts each action to the server. The page keeps
// only the choice of branch, person and view, in its URL.
import { html, render, useEffect, useRef, useState, useAddress, useMedia, ask, post, counted, timeText, Choose, Problem, Theme } from "./parts/elements.js";
import { listen } from "./events.js";
import { People } from "./people.js";
import { Chat } from "./chat.js";
import { Desk } from "./desk.js";
import { Time } from "./time.js";
import { Faults } from "./faults.js";
import { Why } from "./why.js";
import { Nodes } from "./nodes.js";
import { Records } from "./records.js";
import { Timeline } from "./timeline.js";
import { Save } from "./save.js";

const views = [["chat", "Chat"], ["time", "Time"], ["timeline", "Timeline"], ["why", "Why"], ["nodes", "Nodes"], ["records", "Records"], ["faults", "Faults"], ["save", "Save"]];
const panels = { time: Time, timeline: Timeline, why: Why, nodes: Nodes, records: Records, faults: Faults, save: Save };

/**
 * useWorld returns the world of a branch, and loads it again whenever the server reports a change. It calls leave if
 * the branch does not exist.
 */
const useWorld = (branch, leave) => {
  const [state, setState] = useState({ world: null, isOnline: true, problem: null });
  const asked = useRef(0);
  const load = async () => {
    const number = ++asked.current;
    try {
      const world = await ask(`world?branch=${encodeURIComponent(branch ?? "")}`);
      if (number === asked.current) setState({ world, isOnline: true, problem: null });
    } catch (err) {
      if (err.problem?.code === "NotFound" && branch) return leave();
      if (number === asked.current) setState((before) => ({ ...before, problem: err.problem ?? { code: "Internal", message: String(err) } }));
    }
  };
  useEffect(() => {
    load();
    return listen({ changed: load, reached: (isOnline) => setState((before) => ({ ...before, isOnline })) });
  }, [branch]);
  return [state, load];
};

const Page = () => {
  const [address, go] = useAddress();
  const [{ world, isOnline, problem }, load] = useWorld(address.branch, () => go({ branch: "" }));
  const [refused, setRefused] = useState(null);
  const [said, setSaid] = useState("");
  const isWide = useMedia("(min-width: 900px)");
  const last = useRef(null);
  useEffect(() => { document.title = world ? `${world.bot}: simulator` : "Simulator"; }, [world?.bot]);
  useEffect(() => {
    if (world && last.current && last.current.branch === world.branch) setSaid(newsOf(last.current, world));
    last.current = world;
  }, [world]);
  useEffect(() => {
    // If a row is wider than the window, scroll to its selected item.
    for (const chosen of document.querySelectorAll(`.views [aria-current="page"], .people [aria-pressed="true"]`)) chosen.scrollIntoView({ block: "nearest", inline: "center" });
  }, [address.view, address.who, isWide, world === null]);
  if (!world) return html`<main class="waits"><h1>Simulator</h1><p role="status">Loading.</p><${Problem} problem=${problem} /></main>`;

  /** act posts an action, and reports whether it succeeded. */
  const act = async (what, having = {}) => {
    setRefused(null);
    try {
      const done = await post("act", { branch: world.branch, do: what, with: having });
      if (done.branch && done.branch !== world.branch) go({ branch: done.branch });
      await load();
      return true;
    } catch (err) {
      setRefused(err.problem ?? { code: "Internal", message: String(err) });
      return false;
    }
  };
  const people = [...world.members, ...world.agents];
  const who = people.find((one) => one.id === address.who) ?? people[0];
  const view = Object.hasOwn(panels, address.view) ? address.view : "chat";
  const open = isWide && view === "chat" ? "why" : view;
  const Panel = panels[open];
  const parts = { world, who, act, go, address };
  const isAgent = world.agents.includes(who);
  return html`
    <${Head} ...${parts} isOnline=${isOnline} />
    <nav class="views" aria-label="Views"><ul>${views.filter(([id]) => !isWide || id !== "chat").map(([id, title]) => html`
      <li key=${id}><button type="button" aria-current=${id === open ? "page" : undefined} onClick=${() => go({ view: id })}>${title}${badgeOf(id, world)}</button></li>`)}</ul></nav>
    <p class="hidden" role="status" aria-live="polite">${said}</p>
    <main class=${isWide ? "wide" : "narrow"} aria-busy=${world.busy !== ""}>
      ${(world.stale || refused || problem || world.problem) && html`<div class="problems" role="group" aria-label="Problems" tabindex="0">
        <${Problem} title="The bot was not reloaded." problem=${world.stale} />
        <${Problem} problem=${refused} close=${() => setRefused(null)} />
        <${Problem} problem=${problem ?? world.problem} />
      </div>`}
      ${(isWide || view === "chat") && html`<section class="talk" aria-label="Chat">
        <${People} ...${parts} />
        ${isAgent ? html`<${Desk} key=${who.id} ...${parts} />` : html`<${Chat} key=${who.id} ...${parts} />`}
      </section>`}
      ${Panel && html`<section key=${open} class="panel" tabindex=${isWide ? 0 : undefined} aria-label=${views.find(([id]) => id === open)[1]}><${Panel} ...${parts} /></section>`}
    </main>`;
};

/** badgeOf returns the count on a view's button: of faults, or of scheduled agendas. */
const badgeOf = (id, world) => {
  const faults = world.faults.planned.length + world.faults.out.length + (world.faults.isDown ? 1 : 0);
  if (id === "faults" && faults > 0) return html`<span class="tag bad">${faults}<span class="hidden"> ${faults === 1 ? "fault" : "faults"}</span></span>`;
  if (id === "time" && world.agendas.length > 0) return html`<span class="tag">${world.agendas.length}<span class="hidden"> scheduled</span></span>`;
  return null;
};

/** newsOf returns a text about the changes, for screen readers. It leaves out messages, which the log announces. */
const newsOf = (before, now) => {
  if (now.busy) return "The bot is working.";
  const news = [];
  if (before.now !== now.now) news.push(`It is ${timeText(now.now)}.`);
  if (before.loads !== now.loads) news.push("The bot was reloaded.");
  if (before.at !== now.at) news.push(now.moments[now.at].what + ".");
  return news.join(" ");
};

const Head = ({ world, go, isOnline }) => html`<header class="head">
  <h1><bdi>${world.bot}</bdi> <span class="faint">simulator</span></h1>
  <p class="clock"><span class="hidden">Virtual time: </span><time datetime=${world.now}>${timeText(world.now)}</time></p>
  ${!isOnline && html`<p class="tag bad" role="status">Not connected: trying again</p>`}
  ${world.faults.isDown && html`<p class="tag bad">The process is down</p>`}
  <div class="tools">
    ${world.branches.length > 1 && html`<${Choose} label="Branch" value=${world.branch} onChange=${(branch) => go({ branch })}
      among=${world.branches.map((one) => [one.id, `${one.name} (${counted(one.moments - 1, "step")})`])} />`}
    <${Theme} />
  </div>
</header>`;

render(html`<${Page} />`, document.getElementById("page"));
