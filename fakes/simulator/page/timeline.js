// The steps, newest first, with buttons to go back, to go forward and to fork.
import { html, clockText, counted, Field, fieldsOf } from "./parts/elements.js";

export const Timeline = ({ world, act, go }) => {
  const fork = (e) => {
    e.preventDefault();
    act("fork", { moment: world.at, name: fieldsOf(e.target).name });
  };
  const later = world.moments.length - 1 - world.at;
  return html`
    <div class="card"><h2>Timeline</h2>
      <p class="row" role="group" aria-label="Steps">
        <button type="button" disabled=${world.at === 0} onClick=${() => act("go", { moment: world.at - 1 })}>Back</button>
        <button type="button" disabled=${later === 0} onClick=${() => act("go", { moment: world.at + 1 })}>Forward</button></p>
      ${later > 0 && html`<p class="faint">${counted(later, "later step")} ${later === 1 ? "is" : "are"} kept until you do something else. A fork keeps both.</p>`}
      <ol class="moments" reversed>${world.moments.toReversed().map((one) => html`<li key=${one.number} class=${one.number > world.at ? "later" : ""}>
        <button type="button" disabled=${!one.isKept} aria-current=${one.number === world.at ? "step" : undefined} onClick=${() => act("go", { moment: one.number })}>
          <span class="faint">${clockText(one.at)}</span> <bdi>${one.what}</bdi>${one.error && html` <span class="tag bad">${one.error.code}</span>`}</button>
      </li>`)}</ol>
    </div>
    <form class="card" onSubmit=${fork}><h2>Fork</h2>
      <p class="faint">A fork continues from here on its own. Neither branch sees what happens in the other.</p>
      <div class="row"><${Field} label="Name of the fork"><input name="name" autocomplete="off" maxlength="60" placeholder="what if" /></${Field}><button class="main">Fork here</button></div>
      <ul class="plain">${world.branches.map((one) => html`<li key=${one.id} class="row">
        <button type="button" aria-current=${one.id === world.branch ? "true" : undefined} onClick=${() => go({ branch: one.id })}><bdi>${one.name}</bdi></button>
        <span class="faint">${counted(one.moments - 1, "step")}</span></li>`)}</ul>
      ${world.branches.length > 1 && html`<p><button type="button" class="bad" onClick=${() => act("close")}>Close this branch</button></p>`}
    </form>`;
};
