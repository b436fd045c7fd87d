// The conversation: its messages, the messages that wait to be sent, and who is typing. It is independent of the page.
import { API } from "./api.js";
import { Store } from "./store.js";
import { backOff, follow, isFinal, pause } from "./stream.js";
import { joinTabs, locked } from "./tabs.js";

/**
 * @typedef {object} Message
 * @property {number} seq
 * @property {string} [id]
 * @property {string} [clientId]
 * @property {"bot" | "agent" | "me"} from
 * @property {string} [name]
 * @property {number} at
 * @property {any} response
 */

/**
 * @typedef {object} Waiting is a message that the server has not accepted yet
 * @property {string} clientId
 * @property {number} at
 * @property {any} body
 * @property {boolean} [isFailed]
 * @property {string} [why] is set if the server will never accept the message
 */

/**
 * @typedef {object} Upload is a file that is being uploaded; it does not survive a reload
 * @property {string} clientId
 * @property {File} file
 * @property {number} part is its progress, from 0 to 1
 * @property {boolean} [isFailed]
 * @property {string} [why] is set if the server will never accept the file
 */

/** page is the number of messages to request at a time. mostMessages is the number that a tab keeps. */
const page = 50, mostMessages = 200;

/** mostWaiting is the largest number of messages in the queue. */
const mostWaiting = 50;

/**
 * typingEvery is the shortest time between two typing requests. typingLasts is the time for which the typing indicator
 * is shown. Both are in milliseconds.
 */
const typingEvery = 3000, typingLasts = 6000;

/** mayShow reports whether a message appears in the log. The others are only for bot logic. */
const mayShow = (/** @type {Message} */ message) => message.response?.type !== "WEB_EVENT";

/** isMessage reports whether a value from the server is a message. */
const isMessage = (/** @type {any} */ event) => Number.isSafeInteger(event?.seq) && typeof event.response === "object" && event.response !== null;

/**
 * Chat is a conversation. It dispatches "message" (detail: the message, isNew), "removed", "waiting", "progress",
 * "failed", "typing", "marks", "unread", "state", "reset", "expired" and "more".
 */
export class Chat extends EventTarget {
  /** @type {Message[]} in the order of their numbers */
  messages = [];
  /** @type {Upload[]} */
  uploads = [];
  /** @type {{name?: string, from: string} | null} */
  typing = null;
  delivered = 0;
  read = 0;
  hasMore = false;
  /** @type {"idle" | "loading" | "online" | "offline" | "refused"} */
  state = "idle";

  #end = new AbortController();
  /** #stay is aborted when the visitor leaves the page. Browsers may keep the page, with its locks, for the back button. */
  #stay = new AbortController();
  /** @type {AbortController | null} */
  #run = null;
  #visitor = "";
  #last = 0;
  #isSending = false;
  #typedAt = 0;
  #readAt = 0;
  /** @type {any} */
  #typingTimer;

  /**
   * @param {object} of
   * @param {string} of.base
   * @param {string} of.channel
   * @param {string} of.place is the browser's storage for the token: local, session or none
   */
  constructor({ base, channel, place }) {
    super();
    this.base = base;
    this.name = `chat:${base}:${channel}`;
    this.store = new Store(`${this.name}:`, place);
    this.isShared = place === "local";
    this.api = new API({
      base, channel, store: this.store, name: this.name,
      leaves: () => this.#stay.signal,
      onExpired: () => this.#emit("expired"),
      onStranger: () => {
        this.store.set("read", undefined);
        if (this.isStarted && this.#visitor !== "") this.#restart();
      },
    });
    this.store.watch((name) => this.#storeChanged(name), this.#end.signal);
    addEventListener("online", () => {
      this.flush();
      for (const one of this.uploads) if (one.isFailed && !one.why) this.#upload(one);
    }, { signal: this.#end.signal });
    addEventListener("pagehide", () => this.#leave(), { signal: this.#end.signal });
    addEventListener("pageshow", (event) => { if (event.persisted) this.#comeBack(); }, { signal: this.#end.signal });
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.#catchUp(); }, { signal: this.#end.signal });
  }

  /** Releases locks that other pages need. */
  #leave() {
    this.#stay.abort();
    this.#run?.abort();
  }

  #comeBack() {
    this.#stay = new AbortController();
    this.#isSending = false;
    if (this.#run) {
      this.#run = null;
      this.start();
    }
  }

  /** Stops all activity. */
  close() {
    this.#end.abort();
    this.#leave();
    clearTimeout(this.#typingTimer);
  }

  get isStarted() { return this.#run !== null; }

  /** hasSession is true if the visitor was here before. */
  get hasSession() { return this.api.session !== undefined; }

  /** @returns {Waiting[]} */
  get waiting() { return this.store.get("queue") ?? []; }

  /**
   * unlogged are the queued messages that the log does not show, and the failed ones. A message in the log stays in the
   * queue until the server has accepted it.
   */
  get unlogged() {
    const logged = new Set(this.messages.map((one) => one.clientId));
    return this.waiting.filter((one) => one.why || !logged.has(one.clientId));
  }

  get lastRead() { return Number(this.store.get("read") ?? 0); }

  /** unread is the number of messages that the visitor has not seen. */
  get unread() {
    const read = this.lastRead;
    return this.messages.filter((one) => one.from !== "me" && one.seq > read).length;
  }

  /**
   * @param {string} type
   * @param {any} [detail]
   */
  #emit(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }

  /** @param {Chat["state"]} state */
  #setState(state) {
    if (state === this.state) return;
    this.state = state;
    this.#emit("state");
    if (state === "online") this.flush();
  }

  /** Loads the conversation and follows it. */
  start() {
    if (this.#run || this.#end.signal.aborted) return;
    this.#run = new AbortController();
    this.#follow(this.#run.signal);
  }

  /** Drops the conversation on the page, and loads the conversation of the session. */
  #restart() {
    this.#run?.abort();
    this.#run = null;
    this.#clear();
    this.start();
  }

  #clear() {
    this.messages = [];
    this.#last = this.delivered = this.read = this.#readAt = 0;
    this.hasMore = false;
    this.#showTyping(null);
    this.#emit("reset");
    this.#emit("unread");
  }

  /** @param {AbortSignal} signal */
  async #follow(signal) {
    this.#setState("loading");
    /** @type {ReturnType<typeof joinTabs> | undefined} */
    let tabs;
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        if (failures === 1) await this.api.refresh();
        this.#visitor = (await this.api.ensure()).visitor;
        if (signal.aborted) return;
        // Join before loading: events that the leading tab sends during the load are then not lost.
        if (this.isShared) tabs ??= joinTabs(`${this.name}:${this.#visitor}`, (event) => this.#take(event), signal);
        await this.#load();
        break;
      } catch (/** @type {any} */ err) {
        if (signal.aborted) return;
        if (isFinal(err)) return this.#setState("refused");
        this.#setState("offline");
        await pause(backOff(failures, err.retryAfter), signal);
      }
    }
    if (signal.aborted) return;
    this.#setState("online");
    this.flush();
    const lead = () => follow({
      open: (query, cut) => this.api.ask(`stream?channel=${encodeURIComponent(this.api.channel)}&${query}`, { signal: cut }),
      after: () => this.#last,
      onEvent: (event) => {
        this.#take(event);
        if (event.kind !== "bye") tabs?.tell(event); // One tab renews the token for all.
      },
      onState: (state) => {
        this.#setState(state);
        tabs?.tell({ kind: "state", state });
      },
      signal,
    });
    return tabs ? tabs.lead(lead) : lead();
  }

  async #load() {
    const { events, more } = await this.#newest(this.#last);
    this.hasMore = more;
    for (const event of events) this.#insert(event, false);
    this.#emit("more");
    this.#emit("unread");
  }

  /**
   * Returns the newest messages, and all since a number. If the history does not reach that far, the older messages on
   * the page are removed, because they would not be followed by the next ones.
   * @param {number} known is 0 if the page has no messages
   */
  async #newest(known) {
    let found = await this.#history(page);
    const hasGap = () => known > 0 && found.events[0]?.seq > known + 1;
    if (hasGap() && found.more) found = await this.#history(mostMessages);
    if (hasGap()) while (this.messages[0]?.seq < found.events[0].seq) this.#emit("removed", this.messages.shift());
    return found;
  }

  /**
   * Returns the last messages, or the last before a number. It throws if the conversation has ended meanwhile.
   * @param {number} limit
   * @param {number} [before]
   */
  async #history(limit, before) {
    const signal = this.#run?.signal;
    const answer = await (await this.api.ask(`history?limit=${limit}${before === undefined ? "" : `&before=${before}`}`)).json();
    signal?.throwIfAborted();
    return { events: /** @type {Message[]} */ ((answer.events ?? []).filter(isMessage)), more: answer.more === true };
  }

  /** Loads messages before the first one. It returns false if that failed. */
  async loadEarlier() {
    try {
      const { events, more } = await this.#history(page, this.messages[0]?.seq ?? 0);
      for (const event of events.reverse()) this.#insert(event, false);
      this.hasMore = more && this.messages.length < mostMessages;
      this.#emit("more");
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Reads missed events: a suspended tab does not get the leader's events.
   * @param {number} known is the number of the last message before those that may be missing
   */
  async #catchUp(known = this.#last) {
    if (!this.isStarted || this.state === "loading" || !this.isShared) return;
    try {
      for (const event of (await this.#newest(known)).events) this.#insert(event, true);
    } catch {
      this.#last = Math.min(this.#last, known); // Try again later. The stream reports the failure.
    }
  }

  /**
   * Handles an event of the stream.
   * @param {any} event
   */
  #take(event) {
    switch (event.kind) {
      case "message": {
        if (!isMessage(event)) break;
        const known = this.#last;
        this.#insert(event, true);
        if (known > 0 && event.seq > known + 1) this.#catchUp(known); // This tab was suspended for a while.
        break;
      }
      case "typing":
        this.#showTyping(event);
        break;
      case "delivered":
      case "read":
        if (Number.isSafeInteger(event.seq)) {
          this.delivered = Math.max(this.delivered, event.seq);
          if (event.kind === "read") this.read = Math.max(this.read, event.seq);
          this.#emit("marks");
        }
        break;
      case "reset":
        this.#clear();
        this.#catchUpAfterReset();
        break;
      case "bye":
        this.api.ensure(this.api.session?.token).catch(() => {});
        break;
      case "state":
        if (this.state !== "loading") this.#setState(event.state);
        break;
      default: // An event of a newer server.
    }
  }

  async #catchUpAfterReset() {
    try {
      await this.#load();
    } catch {
      // Later events are still shown.
    }
  }

  /**
   * Inserts a message by its number. If a message with this number exists, nothing changes.
   * @param {Message} message
   * @param {boolean} isNew is true if the message is not from the history
   */
  #insert(message, isNew) {
    this.#last = Math.max(this.#last, message.seq);
    let at = this.messages.length;
    while (at > 0 && this.messages[at - 1].seq > message.seq) at--;
    if (this.messages[at - 1]?.seq === message.seq || !mayShow(message)) return;
    if (message.from !== "me") {
      if (message.response.type === "TYPING") {
        if (isNew) this.#showTyping(message, Math.min(Number(message.response.duration) || typingLasts, 60_000));
        return;
      }
      if (isNew) this.#showTyping(null);
    }
    this.messages.splice(at, 0, message);
    this.#emit("message", { message, isNew });
    if (message.clientId) this.#emit("waiting");
    if (this.messages.length > mostMessages && isNew) this.#emit("removed", this.messages.shift());
    if (isNew && message.from !== "me") this.#emit("unread");
  }

  /**
   * @param {any} who
   * @param {number} [lasts]
   */
  #showTyping(who, lasts = typingLasts) {
    clearTimeout(this.#typingTimer);
    if (who) this.#typingTimer = setTimeout(() => this.#showTyping(null), lasts);
    else if (!this.typing) return;
    this.typing = who;
    this.#emit("typing");
  }

  /** @param {string} name */
  #storeChanged(name) {
    if (name === "queue") {
      this.#emit("waiting");
      this.dispatchEvent(new Event("retry")); // The retry may have been tapped in another tab.
    }
    if (name === "read") this.#emit("unread");
    if (name !== "session") return;
    const session = this.api.session;
    if (session?.visitor === this.#visitor) return;
    if (session) return this.#restart();
    this.#run?.abort();
    this.#run = null;
    this.#clear();
  }

  // Sending.

  /**
   * Queues a message. It is sent at once, or when the network is back.
   * @param {any} body has a type, and the fields of that type
   */
  send(body) {
    const queue = this.waiting;
    if (queue.length >= mostWaiting) return false;
    this.store.set("queue", [...queue, { clientId: crypto.randomUUID?.() ?? idOf(), at: Date.now(), body }]);
    this.#emit("waiting");
    this.start();
    this.flush();
    return true;
  }

  /** Sends the queue in order. Only one tab at a time does so. */
  async flush() {
    if (this.#isSending || this.waiting.length === 0) return;
    this.#isSending = true;
    const { signal } = this.#stay;
    try {
      await locked(`${this.name}:send`, signal, () => this.#sendAll(signal));
    } catch {
      // The visitor has left.
    }
    if (signal === this.#stay.signal) this.#isSending = false;
  }

  /** @param {AbortSignal} signal */
  async #sendAll(signal) {
    for (let failures = 0; !signal.aborted;) {
      const next = this.waiting.find((one) => !one.why);
      if (!next) return;
      try {
        const { visitor } = await this.api.ensure();
        const answer = await (await this.api.ask("messages", { body: { clientId: next.clientId, ...next.body } })).json();
        failures = 0;
        const isHere = this.api.session?.visitor === visitor; // Otherwise the number belongs to another conversation.
        this.#dequeue(next.clientId, isHere ? answer.seq : undefined, next);
      } catch (/** @type {any} */ err) {
        if (signal.aborted) return;
        if (isFinal(err)) {
          this.#mark(next.clientId, { isFailed: true, why: err.message });
          continue;
        }
        failures++;
        if (!err.retryAfter) this.#mark(next.clientId, { isFailed: true });
        await this.#pauseOrRetry(backOff(failures, err.retryAfter), signal);
      }
    }
  }

  /**
   * Waits, unless the visitor taps to retry.
   * @param {number} milliseconds
   * @param {AbortSignal} signal
   */
  async #pauseOrRetry(milliseconds, signal) {
    const hurry = new AbortController();
    const stop = () => hurry.abort();
    this.addEventListener("retry", stop, { once: true });
    signal.addEventListener("abort", stop);
    await pause(milliseconds, hurry.signal);
    this.removeEventListener("retry", stop);
    signal.removeEventListener("abort", stop);
  }

  /**
   * @param {string} clientId
   * @param {Partial<Waiting>} changes
   */
  #mark(clientId, changes) {
    const before = this.waiting.find((one) => one.clientId === clientId);
    this.store.set("queue", this.waiting.map((one) => (one.clientId === clientId ? { ...one, ...changes } : one)));
    this.#emit("waiting");
    if (changes.isFailed && !before?.isFailed) this.#emit("failed", changes.why);
  }

  /**
   * Removes a message from the queue. If the server gave it a number, it is shown in the log. If the message is no
   * longer in the queue, its conversation has ended in this browser.
   * @param {string} clientId
   * @param {number} [seq]
   * @param {Waiting} [sent]
   */
  #dequeue(clientId, seq, sent) {
    const queue = this.waiting;
    const rest = queue.filter((one) => one.clientId !== clientId);
    if (rest.length === queue.length) return;
    this.store.set("queue", rest.length > 0 ? rest : undefined);
    this.#emit("waiting");
    if (sent && Number.isSafeInteger(seq)) {
      const before = this.#last; // The stream resumes after the last message that it delivered.
      this.#insert({ seq: Number(seq), clientId, from: "me", at: sent.at, response: sent.body }, true);
      this.#last = before;
    }
  }

  /** Tries again to send a message or file that failed. @param {string} clientId */
  retry(clientId) {
    const upload = this.uploads.find((one) => one.clientId === clientId);
    if (upload) return this.#upload(upload);
    this.#mark(clientId, { isFailed: false, why: undefined });
    this.dispatchEvent(new Event("retry"));
    return this.flush();
  }

  /** Gives up a message or file that was not sent. @param {string} clientId */
  discard(clientId) {
    this.uploads = this.uploads.filter((one) => one.clientId !== clientId);
    this.#dequeue(clientId);
    this.#emit("waiting");
  }

  /** Uploads a file, and sends a message with it. @param {File} file */
  sendFile(file) {
    const upload = { clientId: crypto.randomUUID?.() ?? idOf(), file, part: 0 };
    this.uploads.push(upload);
    this.start();
    return this.#upload(upload);
  }

  /** @param {Upload} upload */
  async #upload(upload) {
    upload.isFailed = false;
    upload.why = undefined;
    this.#emit("waiting");
    try {
      const { url, name, kind } = await this.api.upload(upload.file, (part) => {
        upload.part = part;
        this.#emit("progress", upload);
      });
      if (!this.uploads.includes(upload)) return; // The visitor gave it up.
      this.uploads = this.uploads.filter((one) => one !== upload);
      this.send({ type: "MISC", attachments: [{ type: kind, url, name }] });
    } catch (/** @type {any} */ err) {
      upload.isFailed = true;
      if (isFinal(err)) upload.why = err.message;
      this.#emit("waiting");
      this.#emit("failed", upload.why);
    }
  }

  /** Notifies the server that the visitor is typing. */
  writes() {
    const now = Date.now();
    if (!this.hasSession || this.state !== "online" || now - this.#typedAt < typingEvery) return;
    this.#typedAt = now;
    this.api.ask("typing", { body: {} }).catch(() => {});
  }

  /** Notifies the server that the visitor has seen all messages. */
  see() {
    const seen = this.messages.findLast((one) => one.from !== "me")?.seq ?? 0;
    if (seen <= this.lastRead) return;
    this.store.set("read", seen);
    this.#emit("unread");
    if (seen <= this.#readAt) return;
    this.#readAt = seen;
    this.api.ask("read", { body: { seq: seen } }).catch(() => {});
  }

  /**
   * @param {string} user
   * @param {boolean} merge
   */
  async identify(user, merge) {
    const kept = this.api.session, next = visitorOf(user);
    if (kept?.isKnown && next !== "" && next !== kept.visitor) await this.signOut().catch(() => {}); // Even if the new session fails.
    const before = this.api.session?.visitor;
    const { visitor } = await this.api.identify(user, merge);
    if (before === visitor && !merge) return this.start();
    if (before !== visitor) this.#forget(merge);
    this.#restart();
  }

  async signOut() {
    this.#run?.abort();
    this.#run = null;
    this.#visitor = "";
    this.#forget(false);
    this.#clear();
    this.#setState("idle");
    await this.api.signOut();
  }

  /**
   * Removes the stored data of a previous visitor.
   * @param {boolean} keepsUnsent is true if the next visitor sends the unsent messages
   */
  #forget(keepsUnsent) {
    this.store.set("read", undefined);
    if (keepsUnsent) return;
    this.store.set("queue", undefined);
    this.uploads = [];
    this.#emit("waiting");
  }
}

/** Returns the visitor's id in a token from the host's server, or "". Only the server verifies tokens. @param {string} user */
const visitorOf = (user) => {
  try {
    const content = atob(user.split(".")[1].replaceAll("-", "+").replaceAll("_", "/"));
    return `u:${JSON.parse(new TextDecoder().decode(Uint8Array.from(content, (one) => one.charCodeAt(0)))).sub}`;
  } catch {
    return "";
  }
};

/** Returns a random id. Pages without TLS have no randomUUID. */
const idOf = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
