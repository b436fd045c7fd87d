// The shared parts of the project's pages: the library, the state in the URL, texts for times and numbers, elements
// that show records, and requests to the server.
import { html, render, useEffect, useLayoutEffect, useRef, useState } from "./vendor/htm-preact-3.1.1.js";

export { html, render, useEffect, useLayoutEffect, useRef, useState };

const plurals = new Intl.PluralRules("en");
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" });

/** counted returns a number and its noun: 1 message, 2 messages. */
export const counted = (n, one, more = `${one}s`) => `${n} ${plurals.select(n) === "one" ? one : more}`;

/** timeText returns a date and time in UTC. */
export const timeText = (at) => new Date(at).toLocaleString("en-GB", {
  weekday: "short", day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZone: "UTC",
}).replaceAll(",", "") + " UTC";

/** clockText returns the time of day in UTC. */
export const clockText = (at) => new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: "UTC" });

/** distanceText returns a time relative to another one: in 2 hours, 1 day ago. */
export const distanceText = (to, from) => {
  const seconds = Math.round((new Date(to) - new Date(from)) / 1000);
  for (const [unit, length] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  }
  return seconds === 0 ? "now" : relative.format(seconds, "second");
};

/** sizeText returns the size of a file: 100 bytes, 2.5 kB. */
export const sizeText = (bytes) => (bytes < 1024 ? counted(bytes, "byte") : `${(bytes / 1024).toFixed(1)} kB`);

/** useAddress returns the parameters in the URL's query, and a function that changes some. An empty one is removed. */
export const useAddress = () => {
  const read = () => Object.fromEntries(new URLSearchParams(location.search));
  const [state, setState] = useState(read);
  useEffect(() => {
    const back = () => setState(read());
    addEventListener("popstate", back);
    return () => removeEventListener("popstate", back);
  }, []);
  const change = (some) => {
    const all = { ...read(), ...some };
    const query = new URLSearchParams(Object.entries(all).filter(([, value]) => value));
    history.pushState(null, "", `?${query}`);
    setState(read());
  };
  return [state, change];
};

/** useMedia reports whether a media query matches. */
export const useMedia = (query) => {
  const list = matchMedia(query);
  const [holds, setHolds] = useState(list.matches);
  useEffect(() => {
    const note = () => setHolds(list.matches);
    list.addEventListener("change", note);
    return () => list.removeEventListener("change", note);
  }, [query]);
  return holds;
};

/**
 * kept returns a store of texts by name. It holds them in memory and, so that they survive a reload, in a storage
 * of the browser: "localStorage", or "sessionStorage" for those of the tab. The browser may refuse the storage.
 */
export const kept = (storage, prefix) => {
  const texts = new Map();
  return {
    get: (name) => { try { return texts.get(name) ?? window[storage].getItem(prefix + name) ?? ""; } catch { return ""; } },
    set: (name, text) => {
      texts.set(name, text);
      try { text ? window[storage].setItem(prefix + name, text) : window[storage].removeItem(prefix + name); } catch { /* It lasts until a reload. */ }
    },
  };
};

const looks = kept("localStorage", "");

/** Theme switches between light and dark. The browser stores the choice. */
export const Theme = () => {
  const [theme, setTheme] = useState(() => looks.get("theme"));
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = theme;
    looks.set("theme", theme);
  }, [theme]);
  return html`<label class="field inline">Theme
    <select value=${theme} onChange=${(e) => setTheme(e.target.value)}>
      <option value="">System</option><option value="light">Light</option><option value="dark">Dark</option>
    </select></label>`;
};

/** Problem shows an error below an optional title. Screen readers announce it at once. */
export const Problem = ({ problem, title, close }) => problem && html`<div class="problem" role="alert">
  <p>${title && html`<strong>${title}</strong><br />`}<strong>${problem.code}</strong> <bdi>${problem.message}</bdi></p>
  ${problem.frames && html`<pre tabindex="0" aria-label="Where it happened">${problem.frames.join("\n")}</pre>`}
  ${close && html`<button type="button" onClick=${close}>Dismiss</button>`}
</div>`;

const isPlain = (value) => value === null || typeof value !== "object";

/** latest is the largest number that a Date holds. */
const latest = 8.64e15;

/** isTime reports whether a field is a time in milliseconds, judged by its name and the size of its value. */
const isTime = (name, value) => typeof value === "number" && value > 1e11 && value <= latest && /(At|Until|expiry)$/.test(name ?? "");

/** Value shows a JSON value: objects and arrays as lists, everything else as text. name is the field's name. */
export const Value = ({ value, name }) => {
  if (isTime(name, value)) return html`<time class="value" datetime=${new Date(value).toISOString()} title=${String(value)}>${timeText(value)}</time>`;
  if (isPlain(value)) return html`<bdi class="value ${value === null ? "null" : typeof value}">${value === "" ? "(empty)" : String(value)}</bdi>`;
  const entries = Object.entries(value);
  if (entries.length === 0) return html`<span class="value null">${Array.isArray(value) ? "(none)" : "(empty)"}</span>`;
  return html`<dl class="fields">${entries.map(([name, part]) => html`<div key=${name}>
    <dt><bdi>${name}</bdi></dt><dd><${Value} value=${part} name=${name} /></dd>
  </div>`)}</dl>`;
};

/** Table shows a table. A column is a title, and a function that returns the content of a row's cell. */
export const Table = ({ caption, columns, rows, empty }) => rows.length === 0 ? html`<p class="empty">${empty}</p>` : html`
  <div class="scrolls" tabindex="0" role="group" aria-label=${caption}>
    <table><caption class="hidden">${caption}</caption>
      <thead><tr>${columns.map(([title]) => html`<th scope="col">${title}</th>`)}</tr></thead>
      <tbody>${rows.map((row) => html`<tr>${columns.map(([, cell], i) => i === 0
        ? html`<th scope="row">${cell(row)}</th>` : html`<td>${cell(row)}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`;

/** Field is a control with its label. A control with a value is reset to it whenever the page is drawn; give it a
    defaultValue if it should keep the user's input. */
export const Field = ({ label, children, class: more = "" }) => html`<label class="field ${more}"><span>${label}</span>${children}</label>`;

/** Choose is a list of options, each a text or [value, text]. Without onChange, value is only the first selection, and
    the list keeps the user's choice. */
export const Choose = ({ label, name, value, among, onChange }) => html`<${Field} label=${label}>
  <select name=${name} value=${onChange ? value : undefined} onChange=${onChange && ((e) => onChange(e.target.value))}>
    ${among.map((one) => {
      const [of, text] = Array.isArray(one) ? one : [one, one];
      return html`<option key=${of} value=${of} selected=${of === value}>${text}</option>`;
    })}
  </select></${Field}>`;

/** fieldsOf returns the values in a form, by field name. */
export const fieldsOf = (form) => Object.fromEntries(new FormData(form));

/** addressOf returns the absolute URL of a path, without the user name and password of the page's URL: fetch refuses a
    URL that contains them, and the browser sends them anyway. */
export const addressOf = (path) => Object.assign(new URL(path, document.baseURI), { username: "", password: "" });

/** parsed parses JSON. An integer beyond the safe range of numbers becomes a BigInt. */
export const parsed = (text) => JSON.parse(text, (_, value, context) =>
  typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "") ? BigInt(context.source) : value);

/** written returns a value as JSON. A BigInt becomes an integer. */
export const written = (value) => JSON.stringify(value, (_, part) => (typeof part === "bigint" ? JSON.rawJSON(String(part)) : part));

/** ask sends a request to the page's server. It returns parsed JSON, or the text of any other type. If the server does
    not answer or refuses, or if something else answers with a page of HTML, it throws an error with a problem. */
export const ask = async (path, options) => {
  const fail = (problem) => { throw Object.assign(new Error(path), { problem }); };
  const response = await fetch(addressOf(path), options)
    .catch(() => fail({ code: "Unavailable", message: "The program that serves this page does not answer." }));
  const text = await response.text(), kind = response.headers.get("Content-Type") ?? "";
  if (kind.startsWith("application/json")) {
    const body = parsed(text);
    return response.ok ? body : fail(body.error);
  }
  if (response.ok && !kind.startsWith("text/html")) return text;
  return fail({ code: "Unavailable", message: `Something else than this page's program answers, with the status ${response.status}. Try again, or reload the page to sign in.` });
};

/** post posts JSON. */
export const post = (path, body) => ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: written(body) });
