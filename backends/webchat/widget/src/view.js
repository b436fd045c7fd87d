// The chat on the page: the button that opens it, the log, and the field to write in.
import { el, icon } from "./dom.js";
import { bodyOf, quickRepliesOf } from "./response.js";
import { Sign } from "./sign.js";
import { directionOf, filled } from "./texts.js";

/** longestText is the server's limit for a text, in characters. */
const longestText = 2000;

/** longestPreview is the longest preview of a message in the bubble next to the button, in characters. */
const longestPreview = 140;

const icons = {
  chat: "M4 5h16v11H9l-5 4z",
  close: "M6 6l12 12M18 6L6 18",
  send: "M4 12h15M13 6l6 6-6 6",
  attach: "M20 11l-8 8a5 5 0 0 1-7-7l8-8a3.4 3.4 0 0 1 5 5l-8 8a1.7 1.7 0 0 1-2.400-2.400l7-7",
  sound: "M4 10v4h3l5 4V6l-5 4zM16 9a4 4 0 0 1 0 6M18.500 6.500a8 8 0 0 1 0 11",
  muted: "M4 10v4h3l5 4V6l-5 4zM16 9.500l5 5M21 9.500l-5 5",
};

/**
 * @typedef {object} Settings
 * @property {import("./texts.js").Texts} texts
 * @property {string} language
 * @property {boolean} isInline is true if the chat is a part of the page: always open, and without a button
 */

/** View shows a chat in a shadow root. It dispatches no events; it calls onOpen, and the element dispatches the event. */
export class View {
  isOpen = false;
  /** @type {Map<number, HTMLElement>} by the number of the message */
  #entries = new Map();
  /** @type {Map<string, { shown: string, entry: HTMLElement }>} messages that wait to be sent, by id */
  #waits = new Map();
  #end = new AbortController();
  #narrow = matchMedia("(max-width: 480px)");
  #isAtEnd = true;
  #dragged = 0;
  /** #breaksLine is true if Enter starts a new line, because Shift is held. */
  #breaksLine = false;

  /**
   * @param {ShadowRoot} root
   * @param {import("./chat.js").Chat} chat
   * @param {Settings} settings
   * @param {(isOpen: boolean) => void} onOpen
   */
  constructor(root, chat, { texts, language, isInline }, onOpen) {
    this.root = root;
    this.chat = chat;
    this.texts = texts;
    this.language = language;
    this.isInline = isInline;
    this.onOpen = onOpen;
    this.sign = new Sign(chat.store);

    const button = (/** @type {keyof typeof icons} */ name, /** @type {string} */ label, /** @type {Record<string, any>} */ more) =>
      el("button", { type: "button", class: "icon", "aria-label": label, title: label, ...more }, icon(icons[name]));

    this.badge = el("span", { class: "badge", "aria-hidden": "true", hidden: true });
    this.launcher = el("button", {
      type: "button", class: "launcher", part: "launcher", "aria-expanded": "false", "aria-controls": "panel", onclick: () => this.toggle(),
    }, icon(icons.chat), this.badge);
    this.preview = el("div", { class: "preview", part: "preview", hidden: true });
    this.mute = button("sound", texts.sound, { onclick: () => this.#toggleSound() });
    this.heading = el("h2", { id: "title", dir: "auto" }, texts.title);
    this.status = el("p", { class: "status", role: "status", hidden: true });
    this.alert = el("p", { class: "hidden", role: "alert" });
    this.more = el("button", { type: "button", class: "more", hidden: true, onclick: () => this.#loadEarlier() }, texts.earlier);
    this.list = el("div", { class: "list" });
    this.waiting = el("div", { class: "list", "aria-live": "off" });
    this.marks = el("p", { class: "marks", "aria-live": "off", hidden: true });
    this.typing = el("p", { class: "typing", "aria-live": "off", hidden: true });
    this.log = el("div", {
      class: "log", part: "log", role: "log", "aria-live": "polite", "aria-relevant": "additions", "aria-label": texts.log, tabindex: "0",
      onscroll: () => { this.#isAtEnd = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 40; },
    }, this.more, this.list, this.marks, this.waiting, this.typing);
    // Pictures make the log longer when they have loaded.
    this.log.addEventListener("load", () => this.#toEnd(), true);
    this.replies = el("div", { class: "replies", part: "replies", role: "toolbar", "aria-label": texts.replies, hidden: true, onkeydown: (/** @type {KeyboardEvent} */ event) => this.#rove(event) });
    this.field = el("textarea", {
      id: "field", part: "input", rows: "1", maxlength: String(longestText), placeholder: texts.write, "aria-label": texts.write, dir: "auto", enterkeyhint: "send",
      onkeydown: (/** @type {KeyboardEvent} */ event) => { this.#breaksLine = event.shiftKey; },
      // This listens to beforeinput, because phone keyboards may not report Enter in keydown.
      onbeforeinput: (/** @type {InputEvent} */ event) => {
        if (event.inputType !== "insertLineBreak" || this.#breaksLine || event.isComposing) return;
        event.preventDefault();
        this.#submit();
      },
      oninput: () => { if (this.field.value.trim() !== "") this.chat.writes(); },
      onpaste: (/** @type {ClipboardEvent} */ event) => this.#take(event, event.clipboardData),
    });
    this.picker = el("input", { type: "file", multiple: true, hidden: true, tabindex: "-1", onchange: () => this.#pick() });
    this.composer = el("form", { class: "composer", part: "composer", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); this.#submit(); } },
      button("attach", texts.attach, { onclick: () => this.picker.click() }), this.picker, this.field,
      el("button", { class: "icon send", "aria-label": texts.send, title: texts.send }, icon(icons.send)));
    this.drop = el("p", { class: "drop", "aria-hidden": "true", hidden: true }, texts.drop);
    this.panel = el("section", {
      id: "panel", class: "panel", part: "panel", "aria-labelledby": "title", hidden: true, onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
    },
    el("header", { class: "head", part: "header" }, this.heading, this.mute,
      !this.isInline && button("close", texts.close, { onclick: () => this.shut() })),
    this.status, this.alert, this.log, this.replies, this.composer, this.drop);
    this.#acceptDrops();
    this.frame = el("div", { class: this.isInline ? "frame inline" : "frame", lang: this.language, dir: directionOf(this.language) },
      this.panel, !this.isInline && this.preview, !this.isInline && this.launcher);
    this.root.append(this.frame);
    this.#showSound();
    this.#showModal();
    this.#listen();
  }

  /** Shows the current state of the chat, and listens to its events. */
  #listen() {
    const { chat, texts } = this;
    const signal = this.#end.signal;
    /** @type {(type: string, run: (detail: any) => void) => void} */
    const on = (type, run) => chat.addEventListener(type, (event) => run(/** @type {CustomEvent} */ (event).detail), { signal });
    on("message", ({ message, isNew }) => this.#add(message, isNew));
    on("removed", (message) => this.#remove(message));
    on("reset", () => this.#reset());
    on("waiting", () => this.#showWaiting());
    on("progress", (upload) => this.#showProgress(upload));
    on("failed", (why) => this.#warn(why ? filled(texts.refused, { why }) : texts.notSent));
    on("typing", () => this.#showTyping());
    on("marks", () => this.#showMarks());
    on("unread", () => this.#showUnread());
    on("state", () => this.#showState());
    on("more", () => this.#showMore());
    document.addEventListener("visibilitychange", () => this.#see(), { signal });
    this.#narrow.addEventListener("change", () => this.#showModal(), { signal });
    globalThis.visualViewport?.addEventListener("resize", () => this.#fit(), { signal });
    for (const message of chat.messages) this.#add(message, false);
    this.#showMore();
    this.#showWaiting();
    this.#showState();
    this.#showUnread();
    this.#showTyping();
    if (this.isInline) this.open(false);
  }

  /** Removes everything from the page. */
  close() {
    this.#end.abort();
    this.sign.showUnread(0);
    this.frame.remove();
  }

  // Opening and closing.

  toggle() { return this.isOpen ? this.shut() : this.open(true); }

  /** @param {boolean} takesFocus */
  open(takesFocus) {
    if (this.isOpen) return;
    this.isOpen = true;
    this.panel.hidden = false;
    this.preview.hidden = true;
    this.launcher.setAttribute("aria-expanded", "true");
    this.#showLabel();
    this.frame.classList.add("open");
    this.sign.allow();
    this.chat.start();
    this.#fit();
    this.#isAtEnd = true;
    this.#toEnd();
    if (takesFocus) this.field.focus();
    this.#see();
    this.onOpen(true);
  }

  shut() {
    if (!this.isOpen || this.isInline) return;
    const hadFocus = this.panel.contains(this.root.activeElement);
    this.isOpen = false;
    this.panel.hidden = true;
    this.launcher.setAttribute("aria-expanded", "false");
    this.#showLabel();
    this.frame.classList.remove("open");
    if (hadFocus) this.launcher.focus();
    this.onOpen(false);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key === "Escape" && !this.isInline && !event.isComposing) {
      event.stopPropagation();
      this.shut();
    }
    if (event.key !== "Tab" || !this.#isModal) return;
    const stops = [...this.panel.querySelectorAll("a[href], button, textarea, [tabindex='0'], audio, video")]
      .filter((one) => one instanceof HTMLElement && one.tabIndex >= 0 && one.getClientRects().length > 0);
    const from = event.shiftKey ? stops[0] : stops.at(-1);
    const to = event.shiftKey ? stops.at(-1) : stops[0];
    if (this.root.activeElement !== from || !(to instanceof HTMLElement)) return;
    event.preventDefault();
    to.focus();
  }

  /** #isModal is true if the chat covers the page. The focus then stays in the chat. */
  get #isModal() { return this.#narrow.matches && !this.isInline; }

  #showModal() {
    this.panel.setAttribute("role", this.isInline ? "region" : "dialog");
    if (this.#isModal) this.panel.setAttribute("aria-modal", "true");
    else this.panel.removeAttribute("aria-modal");
    this.#fit();
  }

  /** Fits the chat into the part of the page that a phone's keyboard leaves visible. */
  #fit() {
    const seen = globalThis.visualViewport;
    const fits = this.#isModal && this.isOpen && seen && seen.scale === 1;
    this.panel.style.height = fits ? `${seen.height}px` : "";
    this.panel.style.top = fits ? `${seen.offsetTop}px` : "";
  }

  // Messages.

  /**
   * @param {import("./chat.js").Message} message
   * @param {boolean} isNew
   */
  #add(message, isNew) {
    // Screen readers only announce new messages.
    this.list.setAttribute("aria-busy", String(!isNew));
    this.log.setAttribute("aria-live", isNew ? "polite" : "off");
    const entry = this.#entryOf(message);
    const next = [...this.#entries].filter(([seq]) => seq > message.seq).reduce((least, one) => (one[0] < least[0] ? one : least), /** @type {[number, HTMLElement | null]} */ ([Infinity, null]))[1];
    this.list.insertBefore(entry, next);
    this.#entries.set(message.seq, entry);
    this.#showReplies();
    this.#showMarks();
    if (message.from === "me" && isNew) this.#isAtEnd = true;
    this.#toEnd();
    if (!isNew || message.from === "me") return;
    if (!this.isOpen || document.hidden) this.sign.sound();
    if (!this.isOpen) this.#showPreview(message);
    this.#see();
  }

  /** @param {import("./chat.js").Message} message */
  #entryOf(message) {
    const { texts } = this;
    const isOwn = message.from === "me";
    const name = typeof message.name === "string" && message.name !== "" ? message.name : message.from === "agent" ? texts.agent : texts.bot;
    const at = new Date(Number(message.at) || 0);
    const body = bodyOf(message.response, isOwn, {
      base: this.chat.base, texts,
      tap: (title, payload) => this.#tap(title, payload),
    });
    return el("div", { class: `entry ${isOwn ? "out" : "in"}` },
      el("p", { class: "hidden" }, isOwn ? texts.you : filled(texts.said, { name })),
      !isOwn && message.name !== undefined && el("p", { class: "name", "aria-hidden": "true", dir: "auto" }, name),
      el("div", { class: "bubble", part: isOwn ? "bubble out" : "bubble in", dir: "auto" }, ...(body ?? [])),
      el("time", { datetime: at.toISOString(), "aria-hidden": "true" }, this.#clock(at)));
  }

  /** @param {Date} at */
  #clock(at) {
    const isToday = at.toDateString() === new Date().toDateString();
    return at.toLocaleString(this.language, isToday ? { timeStyle: "short" } : { dateStyle: "short", timeStyle: "short" });
  }

  /** @param {import("./chat.js").Message} message */
  #remove(message) {
    this.#entries.get(message.seq)?.remove();
    this.#entries.delete(message.seq);
  }

  #reset() {
    this.#entries.clear();
    this.list.replaceChildren();
    this.preview.hidden = true;
    this.#showReplies();
    this.#showMarks();
    this.#showMore();
  }

  #toEnd() {
    if (this.#isAtEnd) this.log.scrollTop = this.log.scrollHeight;
  }

  #showMore() { this.more.hidden = !this.chat.hasMore; }

  async #loadEarlier() {
    this.more.disabled = true;
    const height = this.log.scrollHeight, top = this.log.scrollTop;
    this.#isAtEnd = false;
    await this.chat.loadEarlier();
    this.more.disabled = false;
    this.log.scrollTop = top + this.log.scrollHeight - height;
    (this.chat.hasMore ? this.more : this.log).focus({ preventScroll: true });
  }

  /** @param {string} text */
  #warn(text) {
    this.alert.textContent = "";
    this.alert.textContent = text;
  }

  // Messages that wait to be sent.

  /** Updates the entries. Unchanged ones stay, because a button must not be replaced while it is pressed. */
  #showWaiting() {
    const { texts, chat } = this;
    const focused = this.root.activeElement?.getAttribute("data-for");
    const before = this.#waits;
    this.#waits = new Map();
    /** @type {(one: {clientId: string, isFailed?: boolean, why?: string}, body: () => Node[], more?: () => Node) => void} */
    const add = (one, body, more) => {
      const shown = `${Boolean(one.isFailed)} ${one.why ?? ""}`, was = before.get(one.clientId);
      this.#waits.set(one.clientId, was?.shown === shown ? was : { shown, entry: el("div", { class: "entry out waits" },
        el("p", { class: "hidden" }, texts.you),
        el("div", { class: "bubble", dir: "auto" }, ...body()),
        !one.isFailed && (more?.() ?? el("p", { class: "faint" }, texts.sending)),
        one.isFailed && el("div", { class: "actions" },
          el("button", { type: "button", class: "retry", "data-for": one.clientId, onclick: () => chat.retry(one.clientId) },
            one.why ? filled(texts.refused, { why: one.why }) : texts.notSent),
          el("button", { type: "button", class: "retry faint", onclick: () => { chat.discard(one.clientId); this.field.focus(); } }, texts.discard))) });
    };
    const around = { base: chat.base, texts, tap: () => {} };
    for (const one of chat.unlogged) if (one.body?.type !== "WEB_EVENT") add(one, () => bodyOf(one.body, true, around) ?? []);
    for (const one of chat.uploads) {
      add(one, () => [el("p", { class: "plain" }, one.file.name)],
        () => el("progress", { max: "1", value: String(one.part), "data-upload": one.clientId, "aria-label": texts.sending }));
    }
    const entries = [...this.#waits.values()].map(({ entry }) => entry);
    for (const one of [...this.waiting.children]) if (!entries.some((entry) => entry === one)) one.remove();
    entries.forEach((entry, i) => { if (this.waiting.children[i] !== entry) this.waiting.insertBefore(entry, this.waiting.children[i] ?? null); });
    if (focused && !this.root.activeElement) [...this.waiting.querySelectorAll("button")].find((one) => one.getAttribute("data-for") === focused)?.focus();
    this.#showReplies();
    this.#toEnd();
  }

  /** @param {import("./chat.js").Upload} upload */
  #showProgress(upload) {
    for (const one of this.waiting.querySelectorAll("progress")) if (one.getAttribute("data-upload") === upload.clientId) one.value = upload.part;
  }

  #submit() {
    const text = this.field.value.trim();
    this.field.focus();
    if (text === "") return;
    if (!this.#send({ type: "TEXT", text })) return;
    this.field.value = "";
  }

  /** @param {any} body */
  #send(body) {
    this.#isAtEnd = true;
    this.sign.allow();
    const isTaken = this.chat.send(body);
    if (!isTaken) this.#warn(this.texts.full);
    return isTaken;
  }

  /**
   * @param {string} title
   * @param {any} payload
   */
  #tap(title, payload) {
    this.#send({ type: "PAYLOAD", title, payload });
    this.field.focus();
  }

  // Quick replies of the last message, until the visitor has answered.

  #showReplies() {
    const last = this.chat.unlogged.some((one) => !one.why && one.body?.type !== "WEB_EVENT") ? undefined : this.chat.messages.at(-1);
    const replies = last && last.from !== "me" ? quickRepliesOf(last.response) : [];
    const shown = JSON.stringify(replies);
    if (this.replies.dataset.shown === shown) return;
    this.replies.dataset.shown = shown;
    if (this.replies.contains(this.root.activeElement)) this.field.focus();
    this.replies.replaceChildren(...replies.map(({ title, payload }, i) =>
      el("button", { type: "button", dir: "auto", tabindex: i === 0 ? "0" : "-1", onclick: () => this.#tap(title, payload) }, title)));
    this.replies.hidden = replies.length === 0;
    this.#toEnd();
  }

  /** Moves the focus within the toolbar with the arrow keys. @param {KeyboardEvent} event */
  #rove(event) {
    const all = [...this.replies.querySelectorAll("button")];
    const at = all.findIndex((one) => one === this.root.activeElement);
    const ahead = this.frame.dir === "rtl" ? -1 : 1;
    const steps = /** @type {Record<string, number>} */ ({ ArrowRight: at + ahead, ArrowLeft: at - ahead, ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 });
    const to = steps[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    const next = all[(to + all.length) % all.length];
    for (const one of all) one.tabIndex = one === next ? 0 : -1;
    next.focus();
  }

  // Files.

  #pick() {
    for (const file of this.picker.files ?? []) this.chat.sendFile(file);
    this.picker.value = "";
    this.field.focus();
  }

  /**
   * @param {Event} event
   * @param {DataTransfer | null} data
   */
  #take(event, data) {
    const files = [...(data?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    for (const file of files) this.chat.sendFile(file);
  }

  #acceptDrops() {
    const show = (/** @type {number} */ by) => {
      this.#dragged = Math.max(0, this.#dragged + by);
      this.drop.hidden = this.#dragged === 0;
    };
    const hasFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files");
    this.panel.addEventListener("dragenter", (event) => { if (hasFiles(event)) show(1); });
    this.panel.addEventListener("dragleave", (event) => { if (hasFiles(event)) show(-1); });
    this.panel.addEventListener("dragover", (event) => { if (hasFiles(event)) event.preventDefault(); });
    this.panel.addEventListener("drop", (event) => {
      show(-this.#dragged);
      this.#take(event, event.dataTransfer);
    });
  }

  // Marks, states and notifications.

  #showTyping() {
    const who = this.chat.typing;
    this.typing.hidden = who === null;
    if (!who) return this.typing.replaceChildren();
    const name = typeof who.name === "string" && who.name !== "" ? who.name : who.from === "agent" ? this.texts.agent : this.texts.bot;
    this.typing.replaceChildren(el("span", { class: "dots", "aria-hidden": "true" }, el("i"), el("i"), el("i")), el("span", { class: "hidden" }, filled(this.texts.isTyping, { name })));
    this.#toEnd();
  }

  /** Shows the mark below the last message, if that message is the visitor's. */
  #showMarks() {
    const { texts, chat } = this;
    const last = chat.messages.at(-1);
    const isShown = last?.from === "me";
    this.marks.hidden = !isShown;
    this.marks.textContent = !isShown ? "" : last.seq <= chat.read ? texts.read : last.seq <= chat.delivered ? texts.delivered : texts.sent;
  }

  #showLabel() {
    const { unread } = this.chat;
    const label = this.isOpen ? this.texts.close : this.texts.open;
    this.launcher.firstElementChild?.replaceWith(icon(this.isOpen ? icons.close : icons.chat));
    this.launcher.setAttribute("aria-label", unread > 0 && !this.isOpen ? `${label}, ${filled(this.texts.unread, { n: unread })}` : label);
  }

  #showUnread() {
    const { unread } = this.chat;
    this.badge.hidden = unread === 0;
    this.badge.textContent = unread > 99 ? "99+" : String(unread);
    this.sign.showUnread(document.hidden ? unread : 0);
    if (unread === 0) this.preview.hidden = true;
    this.#showLabel();
    this.#see();
  }

  /** Marks the messages as read if the chat is open and visible. */
  #see() {
    this.sign.showUnread(document.hidden ? this.chat.unread : 0);
    if (this.isOpen && !document.hidden) this.chat.see();
  }

  #showState() {
    const { texts } = this;
    const text = { idle: "", online: "", loading: texts.loading, offline: texts.offline, refused: texts.unavailable }[this.chat.state];
    this.status.textContent = text;
    this.status.hidden = text === "";
    this.panel.dataset.state = this.chat.state;
  }

  /** @param {import("./chat.js").Message} message */
  #showPreview(message) {
    const { texts } = this;
    const shown = message.response.text;
    const text = typeof shown === "string" && shown !== "" ? shown : texts.log;
    this.preview.replaceChildren(
      el("button", { type: "button", class: "peek", dir: "auto", onclick: () => this.open(true) }, text.length > longestPreview ? `${text.slice(0, longestPreview)}…` : text),
      el("button", { type: "button", class: "icon", "aria-label": texts.dismiss, onclick: () => { this.preview.hidden = true; this.launcher.focus(); } }, icon(icons.close)));
    this.preview.hidden = false;
  }

  #toggleSound() {
    this.sign.isMuted = !this.sign.isMuted;
    this.#showSound();
  }

  #showSound() {
    this.mute.setAttribute("aria-pressed", String(!this.sign.isMuted));
    this.mute.replaceChildren(icon(this.sign.isMuted ? icons.muted : icons.sound));
  }
}
