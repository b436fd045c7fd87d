// The steps so far as a Go test, or as a conversation in plain text.
import { html, useState, ask, Problem } from "./parts/elements.js";

const forms = [["go", "Go test", "conversation_test.go"], ["text", "conversation", "conversation.chat"]];

export const Save = ({ world }) => {
  const [shown, setShown] = useState(null);
  const show = async (form) => {
    try {
      setShown({ form, text: await ask(`saved?branch=${encodeURIComponent(world.branch)}&form=${form}`) });
    } catch (err) {
      setShown({ form, problem: err.problem ?? { code: "Internal", message: String(err) } });
    }
  };
  return html`<div class="card"><h2>Save this conversation</h2>
    <p class="faint">The ${world.at === 0 ? "beginning" : `first ${world.at === 1 ? "step" : `${world.at} steps`}`} of this branch, and their results.</p>
    <p class="row">${forms.map(([form, title]) => html`<button type="button" class="main" onClick=${() => show(form)}>Show as a ${title}</button>`)}
      ${forms.map(([form, title, name]) => html`<a class="button" href=${`saved?branch=${encodeURIComponent(world.branch)}&form=${form}`} download=${name}>Download the ${title}</a>`)}</p>
    ${shown?.problem && html`<${Problem} problem=${shown.problem} />`}
    ${shown?.text && html`<label class="field">As a ${forms.find(([form]) => form === shown.form)[1]}<textarea class="source" readonly rows="18" spellcheck=${false} value=${shown.text}></textarea></label>`}
  </div>`;
};
