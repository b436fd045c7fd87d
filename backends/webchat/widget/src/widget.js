// The element <chat-widget>, and the script tag that creates one.
import { Chat } from "./chat.js";
import { languageOf, textsOf } from "./texts.js";
import { View } from "./view.js";
import css from "./widget.css";

const sheet = new CSSStyleSheet();
sheet.replaceSync(css);

/** The script tag of this code. It is known only while the script first runs. */
const script = /** @type {HTMLScriptElement | null} */ (document.currentScript);

/**
 * ChatWidget is a chat with a bot. Attributes: channel, base (the address of the server), heading (the title), lang,
 * theme (light, dark or auto), storage (local, session or none), user (a token that the page's server signed), inline.
 *
 * Events, all with a detail: chat-ready, chat-open, chat-close, chat-message (a new message), chat-unread
 * ({count}), chat-state ({state}) and chat-expired: the user's session ended, and the page may call identify.
 */
class ChatWidget extends HTMLElement {
  static observedAttributes = ["channel", "base", "lang", "storage", "inline"];

  /** @type {Chat | null} */
  #chat = null;
  /** @type {View | null} */
  #view = null;
  /** @type {Partial<import("./texts.js").Texts>} */
  #texts = {};
  #root = this.attachShadow({ mode: "open" });

  constructor() {
    super();
    this.#root.adoptedStyleSheets = [sheet];
  }

  connectedCallback() { this.#begin(); }

  disconnectedCallback() { this.#end(); }

  /**
   * @param {string} name
   * @param {string | null} before
   * @param {string | null} now
   */
  attributeChangedCallback(name, before, now) {
    if (!this.#chat || before === now) return;
    if (name === "lang" || name === "inline") return this.#show();
    this.#end();
    this.#begin();
  }

  /** @returns {Partial<import("./texts.js").Texts>} the page's texts, which replace the language's */
  get texts() { return { ...this.#texts }; }

  set texts(texts) {
    this.#texts = { ...texts };
    if (this.#chat) this.#show();
  }

  get unread() { return this.#chat?.unread ?? 0; }

  get isOpen() { return this.#view?.isOpen ?? false; }

  open() { this.#view?.open(true); }

  close() { this.#view?.shut(); }

  toggle() { this.#view?.toggle(); }

  /**
   * Sends a message for the visitor: a text, or an object with a type, such as {type: "PAYLOAD", title, payload}.
   * It returns false if too many messages are waiting.
   * @param {string | {type: string}} message
   */
  send(message) {
    return this.#chat?.send(typeof message === "string" ? { type: "TEXT", text: message } : message) ?? false;
  }

  /**
   * Sends an event of the page to the bot. The event is not shown.
   * @param {string} name
   * @param {any} [value]
   */
  sendEvent(name, value) { return this.#chat?.send({ type: "WEB_EVENT", data: { name, value } }) ?? false; }

  /**
   * Starts a session of a signed-in user.
   * @param {string} token is the token that the page's server has signed
   * @param {{merge?: boolean}} [how] with merge, the conversation so far becomes the user's
   */
  async identify(token, { merge = false } = {}) { await this.#chat?.identify(token, merge); }

  /** Ends the session, and removes the conversation from this browser. */
  async signOut() { await this.#chat?.signOut(); }

  /**
   * @param {string} type
   * @param {any} [detail]
   */
  #tell(type, detail = {}) { this.dispatchEvent(new CustomEvent(`chat-${type}`, { detail, bubbles: true, composed: true })); }

  #begin() {
    const channel = this.getAttribute("channel");
    if (!this.isConnected || !channel) return;
    const base = new URL(this.getAttribute("base") ?? (script ? new URL(".", script.src).href : "."), document.baseURI).href;
    const chat = new Chat({ base: base.endsWith("/") ? base : `${base}/`, channel, place: this.getAttribute("storage") ?? "local" });
    this.#chat = chat;
    /** @type {(type: string, run: (detail: any) => void) => void} */
    const on = (type, run) => chat.addEventListener(type, (event) => run(/** @type {CustomEvent} */ (event).detail));
    on("message", ({ message, isNew }) => { if (isNew) this.#tell("message", message); });
    on("unread", () => this.#tell("unread", { count: chat.unread }));
    on("state", () => this.#tell("state", { state: chat.state }));
    on("expired", () => this.#tell("expired"));
    this.#show();
    const user = this.getAttribute("user");
    if (user) {
      chat.identify(user, false).catch(() => {
        this.#tell("expired");
        if (chat.hasSession) chat.start();
      });
    } else if (chat.hasSession) chat.start();
    this.#tell("ready");
  }

  #show() {
    const chat = /** @type {Chat} */ (this.#chat);
    const wasOpen = this.#view?.isOpen;
    this.#view?.close();
    const language = languageOf([this.getAttribute("lang"), this.closest("[lang]")?.getAttribute("lang"), chat.api.session?.locale, ...navigator.languages]);
    const title = this.getAttribute("heading");
    const texts = textsOf(language, title ? { title, ...this.#texts } : this.#texts);
    this.#view = new View(this.#root, chat, { texts, language, isInline: this.hasAttribute("inline") }, (isOpen) => this.#tell(isOpen ? "open" : "close"));
    if (wasOpen) this.#view.open(false);
  }

  #end() {
    this.#view?.close();
    this.#chat?.close();
    this.#view = this.#chat = null;
  }
}

if (!customElements.get("chat-widget")) customElements.define("chat-widget", ChatWidget);

/** Adds a chat to the page if the script tag has data-channel. Other data attributes become the element's attributes. */
const add = () => {
  if (!script?.dataset.channel || document.querySelector("chat-widget")) return;
  const element = document.createElement("chat-widget");
  element.setAttribute("base", script.dataset.base ?? new URL(".", script.src).href);
  for (const name of ["channel", "lang", "theme", "storage", "user", "heading"]) {
    const value = script.dataset[name];
    if (value) element.setAttribute(name, value);
  }
  document.body.append(element);
};
if (document.body) add();
else addEventListener("DOMContentLoaded", add);
