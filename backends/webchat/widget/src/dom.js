// Functions that create elements. Text is never parsed as HTML, and addresses are checked.

/**
 * Returns an element. Attributes of null, undefined and false are left out, true is "", and functions are
 * listeners: {onclick: f}.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export const el = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
};

/**
 * Returns an icon that draws an SVG path in a box of 24 by 24.
 * @param {string} path
 */
export const icon = (path) => {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const line = document.createElementNS(space, "path");
  line.setAttribute("d", path);
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.append(line);
  return svg;
};

/**
 * Returns the absolute address if it has one of the schemes, and otherwise "".
 * @param {unknown} url
 * @param {string} base
 * @param {string[]} schemes such as ["https:"]
 */
const checked = (url, base, schemes) => {
  if (typeof url !== "string" || url === "") return "";
  try {
    const whole = new URL(url, base);
    return schemes.includes(whole.protocol) && whole.username === "" ? whole.href : "";
  } catch {
    return "";
  }
};

/**
 * Returns the address of a link, or "" if it may not be followed.
 * @param {unknown} url
 * @param {string} base
 */
export const linkURL = (url, base) => checked(url, base, ["http:", "https:", "mailto:", "tel:"]);

/**
 * Returns the address of a picture or recording, or "" if it may not be loaded. It must use https or have the
 * origin of the chat.
 * @param {unknown} url
 * @param {string} base
 */
export const mediaURL = (url, base) => {
  const whole = checked(url, base, ["http:", "https:"]);
  return whole.startsWith("https:") || (whole !== "" && new URL(whole).origin === new URL(base).origin) ? whole : "";
};

/**
 * Returns a link, or only its content if the address may not be followed.
 * @param {unknown} url
 * @param {string} base
 * @param {...(Node | string)} children
 */
export const link = (url, base, ...children) => {
  const href = linkURL(url, base);
  if (href === "") return el("span", {}, ...children);
  return el("a", { href, target: "_blank", rel: "noopener noreferrer nofollow" }, ...children);
};
