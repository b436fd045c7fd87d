// The nodes for messages. Unknown content is shown as text, or not shown.
import { el, link, linkURL, mediaURL } from "./dom.js";
import { nodesOf } from "./markdown.js";

/**
 * @typedef {object} Around is the context in which a message is shown
 * @property {string} base
 * @property {import("./texts.js").Texts} texts
 * @property {(title: string, payload: any) => void} tap
 */

/** Responses come from a bot's logic: any field may have any type. */
const text = (/** @type {unknown} */ value) => (typeof value === "string" ? value : typeof value === "number" ? String(value) : "");
const list = (/** @type {unknown} */ value) => (Array.isArray(value) ? value.filter((one) => typeof one === "object" && one !== null).slice(0, 50) : []);

/** longestText bounds the text of a message that is shown, in characters. */
const longestText = 20_000;

/**
 * Returns the nodes of a response or of the visitor's message. It is null if there is nothing to show.
 * @param {any} response
 * @param {boolean} isOwn is true for the visitor's messages, in which Markdown has no meaning
 * @param {Around} around
 * @returns {Node[] | null}
 */
export const bodyOf = (response, isOwn, around) => {
  const { texts } = around;
  const said = text(response.text).slice(0, longestText);
  const words = () => (said === "" ? [] : isOwn ? [el("p", { class: "plain" }, said)] : nodesOf(said, around.base));
  switch (response.type) {
    case "PAYLOAD":
      return [el("p", { class: "plain" }, text(response.title) || text(response.payload) || said)];
    case "MISC":
      return [...words(), ...list(response.attachments).map((one) => fileOf(text(one.type), one.url ?? one.payload?.url, one.name, around))];
    case "IMAGE":
    case "AUDIO":
    case "VIDEO":
    case "FILE":
      return [fileOf(response.type.toLowerCase(), response.url, response.name, around), ...words()];
    case "BUTTON":
      return [...words(), buttonsOf(response.buttons, around)];
    case "CAROUSEL":
      return [row(list(response.carousel).map((card) => cardOf(card, around)), texts)];
    case "NEWS":
      return [row(list(response.articles).map((one) => articleOf(one, around)), texts)];
    default:
      return said === "" ? [el("p", { class: "plain faint" }, texts.unsupported)] : words();
  }
};

/**
 * Returns the quick replies of a response: a title and a payload each.
 * @param {any} response
 */
export const quickRepliesOf = (response) => list(response?.quickReplies)
  .map((one) => ({ title: text(one.title), payload: one.payload ?? one.title })).filter((one) => one.title !== "");

/**
 * @param {string} kind
 * @param {unknown} url
 * @param {unknown} name
 * @param {Around} around
 */
const fileOf = (kind, url, name, { base, texts }) => {
  const address = mediaURL(url, base);
  const title = text(name) || (kind === "image" ? texts.picture : nameOf(address)) || texts.file;
  const asLink = () => {
    const shown = linkURL(address || url, base) === "" ? el("span") : link(address || url, base);
    shown.className = "file";
    shown.append(title);
    return shown;
  };
  if (address === "") return asLink();
  if (kind === "image") {
    const picture = el("img", { src: address, alt: title, decoding: "async", referrerpolicy: "no-referrer" });
    const shown = link(address, base, picture);
    picture.addEventListener("error", () => shown.replaceWith(asLink()));
    return shown;
  }
  if (kind === "audio" || kind === "video") return el(kind, { src: address, controls: true, preload: "metadata", "aria-label": title });
  return asLink();
};

/** @param {string} address */
const nameOf = (address) => {
  try {
    return decodeURIComponent(new URL(address).pathname.split("/").pop() ?? "");
  } catch {
    return "";
  }
};

/**
 * @param {unknown} buttons
 * @param {Around} around
 */
const buttonsOf = (buttons, around) => el("div", { class: "buttons" }, ...list(buttons).map((one) => {
  const title = text(one.title);
  if (title === "") return null;
  if (one.type === "web_url" || (one.url && one.payload === undefined)) {
    const shown = link(one.url, around.base, el("span", { dir: "auto" }, title));
    shown.className = "button";
    return shown;
  }
  return el("button", { type: "button", class: "button", dir: "auto", onclick: () => around.tap(title, one.payload ?? title) }, title);
}));

/**
 * @param {any} card
 * @param {Around} around
 */
const cardOf = (card, around) => el("li", { class: "card" },
  pictureOf(card.image_url, around),
  el("strong", { dir: "auto" }, text(card.title)),
  text(card.subtitle) !== "" && el("span", { class: "faint", dir: "auto" }, text(card.subtitle)),
  buttonsOf(card.buttons, around));

/**
 * @param {any} article
 * @param {Around} around
 */
const articleOf = (article, around) => el("li", { class: "card" },
  pictureOf(article.picurl, around),
  link(article.url, around.base, el("strong", { dir: "auto" }, text(article.title))),
  el("span", { class: "faint", dir: "auto" }, text(article.description)));

/**
 * Returns the picture of a card. It needs no alternative text, because the card has a title.
 * @param {unknown} url
 * @param {Around} around
 */
const pictureOf = (url, { base }) => {
  const address = mediaURL(url, base);
  if (address === "") return null;
  const picture = el("img", { src: address, alt: "", loading: "lazy", decoding: "async", referrerpolicy: "no-referrer" });
  picture.addEventListener("error", () => picture.remove());
  return picture;
};

/**
 * @param {HTMLElement[]} cards
 * @param {import("./texts.js").Texts} texts
 */
const row = (cards, texts) => el("ul", { class: "cards", role: "list", tabindex: "0", "aria-label": texts.cards }, ...cards);
