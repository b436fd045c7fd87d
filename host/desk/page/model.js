// The state of the page, and the requests that change it. The parts of the page read the state, and are drawn again
// after each change.
import { ask, kept, post } from "./parts/elements.js";
import { useEffect, useState } from "./parts/elements.js";

/** problemOf returns the server's problem in an error, or a problem with the code Internal for any other error. */
export const problemOf = (err) => err.problem ?? { code: "Internal", message: String(err) };

/** newKey returns a random key. The server stores only one message with the key, however often it is sent. */
const newKey = () => [...crypto.getRandomValues(new Uint8Array(12))].map((b) => b.toString(16).padStart(2, "0")).join("");

/** pathOf returns the path of a chat on the server. */
export const pathOf = (chat) => `chats/${encodeURIComponent(chat.app)}/${encodeURIComponent(chat.id)}`;

const drafts = kept("sessionStorage", "desk ");

/** Model is the state of the page. */
export class Model {
  about = null;
  problem = null;
  said = "";
  isOnline = true;
  isSignedOut = false;
  isOld = false;
  isLoaded = false;
  rows = new Map();
  agents = [];
  /** logs are the messages of opened chats, by chat id: { entries, hasMore, isLoading, isAgain, problem }. */
  logs = new Map();
  /** sending are messages that are being sent or that failed, by chat id: { key, what, body, problem }. */
  sending = new Map();
  answers = new Map();
  #watchers = new Set();

  watch(watcher) { this.#watchers.add(watcher); return () => this.#watchers.delete(watcher); }
  changed() { for (const watcher of this.#watchers) watcher(); }
  say(text) { this.said = text; this.changed(); }

  /** hear applies the server's news. It returns the previous rows by id, or null for the first news. */
  hear(news) {
    const before = new Map(this.rows);
    if (news.isAll) this.rows = new Map();
    for (const row of news.set ?? []) this.rows.set(row.id, row);
    for (const id of news.gone ?? []) this.rows.delete(id);
    if (news.agents) this.agents = news.agents;
    const isFirst = !this.isLoaded;
    this.isLoaded = true;
    this.changed();
    return isFirst ? null : before;
  }

  log(id) { return this.logs.get(id) ?? { entries: [], hasMore: false, isLoading: false }; }
  #setLog(id, change) { this.logs.set(id, { ...this.log(id), ...change }); this.changed(); }

  /** load reads the messages of a chat: at first the latest ones, later the ones after the newest known one. */
  async load(chat) {
    const log = this.log(chat.id);
    if (log.isLoading) { this.logs.set(chat.id, { ...log, isAgain: true }); return; }
    this.#setLog(chat.id, { isLoading: true, isAgain: false, problem: null });
    try {
      for (let more = true; more;) {
        const { entries } = this.log(chat.id), newest = entries.at(-1)?.seq;
        const found = await ask(`${pathOf(chat)}/log${newest ? `?after=${newest}` : ""}`);
        if (found.isCut || !newest) this.logs.set(chat.id, { ...this.log(chat.id), entries: found.entries, hasMore: found.hasMore });
        else this.#take(chat.id, found.entries);
        more = newest !== undefined && found.hasMore;
      }
    } catch (err) {
      this.logs.set(chat.id, { ...this.log(chat.id), problem: problemOf(err) });
    }
    const isAgain = this.log(chat.id).isAgain;
    this.#setLog(chat.id, { isLoading: false, isAgain: false });
    if (isAgain) await this.load(chat);
  }

  /** loadEarlier reads messages before the oldest known one. */
  async loadEarlier(chat) {
    const { entries } = this.log(chat.id);
    try {
      const found = await ask(`${pathOf(chat)}/log?before=${entries[0].seq}`);
      this.#setLog(chat.id, { entries: [...found.entries, ...this.log(chat.id).entries], hasMore: found.hasMore });
    } catch (err) {
      this.#setLog(chat.id, { problem: problemOf(err) });
    }
  }

  /** #take adds messages to a log, ordered by number and without duplicates. */
  #take(id, added) {
    const all = new Map(this.log(id).entries.map((one) => [one.seq, one]));
    for (const one of added) all.set(one.seq, one);
    this.logs.set(id, { ...this.log(id), entries: [...all.values()].sort((a, b) => a.seq - b.seq) });
  }

  draft(chat, what) { return drafts.get(`${what} ${chat.id}`); }
  setDraft(chat, what, text) { drafts.set(`${what} ${chat.id}`, text); this.changed(); }

  /** send sends a message or a note. If that fails, the message stays in sending, with the problem. */
  send(chat, what, body) {
    const message = { key: newKey(), what, body, problem: null };
    this.sending.set(chat.id, [...(this.sending.get(chat.id) ?? []), message]);
    return this.retry(chat, message);
  }

  async retry(chat, message) {
    const change = (to) => {
      const others = (this.sending.get(chat.id) ?? []).map((one) => (one.key === message.key ? to : one)).filter(Boolean);
      this.sending.set(chat.id, others);
    };
    change({ ...message, problem: null });
    this.changed();
    try {
      const entry = await post(`${pathOf(chat)}/${message.what}`, { key: message.key, ...message.body });
      change(null);
      const { entries } = this.log(chat.id);
      // Messages before this one may be missing: load reads them all.
      if (entries.length > 0 && entry.seq === entries.at(-1).seq + 1) this.#take(chat.id, [entry]);
      else this.load(chat);
      this.changed();
      return true;
    } catch (err) {
      change({ ...message, problem: problemOf(err) });
      this.say("A message was not sent.");
      return false;
    }
  }

  /** drop discards a message that could not be sent. */
  drop(chat, message) {
    this.sending.set(chat.id, (this.sending.get(chat.id) ?? []).filter((one) => one.key !== message.key));
    this.changed();
  }

  /** act posts an action on a chat. It returns the result, or null if the server refused. */
  async act(chat, what, body = {}) {
    this.problem = null;
    try {
      const done = await post(`${pathOf(chat)}/${what}`, body);
      this.changed();
      return done;
    } catch (err) {
      this.problem = problemOf(err);
      this.changed();
      return null;
    }
  }

  async loadAnswers(app) {
    try {
      const { answers } = await ask(`answers/${encodeURIComponent(app)}`);
      this.answers.set(app, answers);
    } catch (err) {
      this.problem = problemOf(err);
    }
    this.changed();
  }
}

/** useModel draws a part of the page again after each change of the model. */
export const useModel = (model) => {
  const [, draw] = useState(0);
  useEffect(() => model.watch(() => draw((n) => n + 1)), [model]);
  return model;
};
