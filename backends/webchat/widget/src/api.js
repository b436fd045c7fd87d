// Requests to the server, and the session whose token they need.
import { locked } from "./tabs.js";

/** renewBefore is the time before a token's expiry from which it is renewed, in milliseconds. */
const renewBefore = 7 * 24 * 3600 * 1000;

/** longestRequest limits every request except the stream, in milliseconds. */
const longestRequest = 40_000;

/** longestUpload limits an upload, in milliseconds. */
const longestUpload = 600_000;

/** Refusal is the error for an answer with an error status. */
export class Refusal extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {number | undefined} retryAfter in milliseconds
   */
  constructor(status, message, retryAfter) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/**
 * @param {number} status
 * @param {string} text is the body
 * @param {string | null | undefined} after is the header Retry-After
 */
const refusalOf = (status, text, after) => {
  let message = `HTTP ${status}`;
  try {
    message = String(JSON.parse(text).error.message || message);
  } catch {
    // The answer is not from the chat server: it may be from a proxy.
  }
  return new Refusal(status, message, after && /^\d{1,5}$/.test(after) ? Number(after) * 1000 : undefined);
};

/**
 * @typedef {object} Session
 * @property {string} token
 * @property {string} visitor
 * @property {number} expiresAt
 * @property {boolean} [isKnown] is true if the host's server signed the visitor's token
 * @property {string} [locale]
 */

/** API sends requests to the server. It starts a session when it needs one. */
export class API {
  /** @type {Promise<any> | null} */
  #asking = null;

  /**
   * @param {object} of
   * @param {string} of.base is the address of the handler, and ends in a slash
   * @param {string} of.channel
   * @param {import("./store.js").Store} of.store
   * @param {string} of.name is the prefix of the names of locks
   * @param {() => AbortSignal} of.leaves returns the signal that aborts requests when the visitor leaves the page
   * @param {() => void} of.onExpired is called if a known visitor's session has ended; the next one is anonymous
   * @param {(session: Session) => void} of.onStranger is called with the new session after the server
   *   refused the old token
   */
  constructor({ base, channel, store, name, leaves, onExpired, onStranger }) {
    this.base = base;
    this.channel = channel;
    this.store = store;
    this.name = name;
    this.leaves = leaves;
    this.onExpired = onExpired;
    this.onStranger = onStranger;
  }

  /** @returns {Session | undefined} */
  get session() { return this.store.get("session"); }

  /**
   * Sends a request. If init has a signal, there is no other time limit.
   * @param {string} path
   * @param {RequestInit} init
   */
  async #fetch(path, init) {
    const signal = AbortSignal.any([this.leaves(), init.signal ?? AbortSignal.timeout(longestRequest)]);
    const response = await fetch(new URL(path, this.base), { credentials: "omit", cache: "no-store", referrerPolicy: "origin", ...init, signal });
    if (!response.ok) throw refusalOf(response.status, await response.text(), response.headers.get("Retry-After"));
    return response;
  }

  /**
   * Gets a session from the server and stores it.
   * @param {{token?: string, user?: string, merge?: boolean}} by
   * @returns {Promise<Session>}
   */
  async #take(by) {
    const response = await this.#fetch("session", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ channel: this.channel, ...by }),
    });
    const session = await response.json();
    if (typeof session.token !== "string") throw new Error("the session has no token");
    const before = this.session;
    session.isKnown = Boolean(by.user ?? (by.token && before?.isKnown));
    this.store.set("session", session);
    return session;
  }

  /**
   * Runs functions that use the session one at a time, across all tabs.
   * @template T
   * @param {() => Promise<T>} run
   * @returns {Promise<T>}
   */
  #alone(run) {
    const next = (this.#asking ?? Promise.resolve()).catch(() => {}).then(() => locked(`${this.name}:session`, this.leaves(), run));
    this.#asking = next;
    return next;
  }

  /**
   * Returns a session that has not expired. The server may still refuse it.
   * @param {string} [refused] is a token that the server has refused
   * @returns {Promise<Session>}
   */
  async ensure(refused) {
    const kept = this.session;
    if (kept && kept.token !== refused && kept.expiresAt > Date.now()) return kept;
    return this.#alone(async () => {
      const now = this.session;
      if (now && now.token !== refused && now.expiresAt > Date.now()) return now; // Another tab was faster.
      return this.#renew(now);
    });
  }

  /** Renews an anonymous session that ends soon. A user's session cannot be extended. */
  async refresh() {
    const session = this.session;
    if (session && !session.isKnown && session.expiresAt - Date.now() < renewBefore) await this.#alone(() => this.#renew(this.session));
  }

  /** @param {Session | undefined} old */
  async #renew(old) {
    if (!old) return this.#take({});
    try {
      return await this.#take({ token: old.token });
    } catch (/** @type {any} */ err) {
      if (err.status !== 401) throw err;
      const session = await this.#take({});
      if (old.isKnown) this.onExpired();
      this.onStranger(session);
      return session;
    }
  }

  /**
   * Replaces the session with one for a signed-in user.
   * @param {string} user is the token that the host's server has signed
   * @param {boolean} merge is true if the visitor's messages so far become the user's
   */
  identify(user, merge) {
    return this.#alone(() => {
      const token = merge ? this.session?.token : undefined;
      return this.#take(token ? { user, token, merge } : { user });
    });
  }

  /** Ends the session, here and at the server. */
  async signOut() {
    const session = this.session;
    this.store.set("session", undefined);
    if (!session) return;
    await this.#fetch("signout", { method: "POST", headers: headersOf(session), body: "{}" });
  }

  /**
   * Sends a request with the session's token. If the server refuses the token, it tries once more with a new one.
   * @param {string} path is relative to the base
   * @param {{body?: any, signal?: AbortSignal}} [how] a body is sent by POST, as JSON
   * @returns {Promise<Response>}
   */
  async ask(path, { body, signal } = {}) {
    const send = (/** @type {Session} */ session) => this.#fetch(path, {
      method: body === undefined ? "GET" : "POST", headers: headersOf(session), body: body === undefined ? undefined : JSON.stringify(body), signal,
    });
    const session = await this.ensure();
    try {
      return await send(session);
    } catch (/** @type {any} */ err) {
      if (err.status !== 401) throw err;
      return send(await this.ensure(session.token));
    }
  }

  /**
   * Uploads a file. It uses XMLHttpRequest, because fetch does not report progress.
   * @param {File} file
   * @param {(part: number) => void} onProgress takes a number from 0 to 1
   * @returns {Promise<{url: string, name: string, kind: string}>}
   */
  async upload(file, onProgress) {
    const { token } = await this.ensure();
    try {
      return await this.#post(file, onProgress, token);
    } catch (/** @type {any} */ err) {
      if (err.status !== 401) throw err;
      return this.#post(file, onProgress, (await this.ensure(token)).token);
    }
  }

  /**
   * @param {File} file
   * @param {(part: number) => void} onProgress
   * @param {string} token
   * @returns {Promise<{url: string, name: string, kind: string}>}
   */
  #post(file, onProgress, token) {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.timeout = longestUpload;
      request.open("POST", new URL("files", this.base));
      request.setRequestHeader("Authorization", `Bearer ${token}`);
      request.upload.onprogress = (event) => { if (event.lengthComputable) onProgress(event.loaded / event.total); };
      request.onerror = request.ontimeout = () => reject(new TypeError("the network is away"));
      request.onload = () => {
        if (request.status < 200 || request.status > 299) {
          return reject(refusalOf(request.status, request.responseText, request.getResponseHeader("Retry-After")));
        }
        try {
          resolve(JSON.parse(request.responseText));
        } catch (err) {
          reject(err);
        }
      };
      const form = new FormData();
      form.append("file", file, file.name);
      request.send(form);
    });
  }
}

/** @param {Session} session */
const headersOf = (session) => ({ Authorization: `Bearer ${session.token}`, "Content-Type": "application/json" });
