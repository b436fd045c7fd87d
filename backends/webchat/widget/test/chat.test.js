import assert from "node:assert/strict";
import { test } from "node:test";
import { Chat } from "../src/chat.js";

// These are stubs of the parts of a browser that a conversation uses.
const page = new EventTarget();
globalThis.addEventListener = page.addEventListener.bind(page);
globalThis.removeEventListener = page.removeEventListener.bind(page);
globalThis.document = new EventTarget();
Object.defineProperty(globalThis, "navigator", { value: {}, configurable: true });

/** sessions is the number of requests for a session. */
let sessions = 0;

/** isRefused makes the server refuse requests for a session. */
let isRefused = false;

const json = (body, status = 200, headers = {}) => new Response(JSON.stringify(body), { status, headers });

/**
 * open returns a chat. answer is called with the body of each message that the chat sends, with a function that sends
 * an event to the chat, and with the token. history returns the answer to a request for the history.
 */
const open = (t, answer, { place = "none", history = () => ({ events: [], more: false }) } = {}) => {
  let stream;
  const tell = (event) => stream.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`));
  globalThis.fetch = async (address, { body, signal, headers }) => {
    const path = new URL(address).pathname.split("/").pop();
    const inDays = (days) => Date.now() - 1 + days * 24 * 3600 * 1000;
    if (path === "session") {
      sessions++;
      if (isRefused) return json({}, 429);
      return json(JSON.parse(body).user ? { token: "ada", visitor: "u:ada", expiresAt: inDays(7) } : { token: "t", visitor: "v:1", expiresAt: inDays(30) });
    }
    if (path === "history") return json(await history(new URL(address).searchParams));
    if (path === "messages") return answer(JSON.parse(body), tell, headers.Authorization);
    return new Response(new ReadableStream({
      start: (control) => {
        stream = control;
        signal.addEventListener("abort", () => control.error(signal.reason));
      },
    }));
  };
  const chat = new Chat({ base: "https://bot.example/chat/", channel: "web", place });
  t.after(() => chat.close());
  return chat;
};

const next = (chat, type) => new Promise((resolve) => { chat.addEventListener(type, resolve, { once: true }); });

// The server stores a message before it accepts it. If accepting fails, the stream has already sent the message.
test("a message that is in the log, but was not accepted, is sent again", async (t) => {
  const ids = [];
  let isSentAgain;
  const again = new Promise((resolve) => { isSentAgain = resolve; });
  const chat = open(t, async ({ clientId, type, text }, tell) => {
    ids.push(clientId);
    if (ids.length > 1) {
      isSentAgain();
      return json({ clientId, seq: 7 });
    }
    const shown = next(chat, "message");
    tell({ kind: "message", seq: 7, clientId, from: "me", at: 1, response: { type, text } });
    await shown;
    return json({ error: { message: "the store is away" } }, 503, { "Retry-After": "0" });
  });
  chat.start();
  while (chat.state !== "online") await next(chat, "state");
  chat.send({ type: "TEXT", text: "hello" });
  await again;
  while (chat.waiting.length > 0) await next(chat, "waiting");
  assert.equal(ids[0], ids[1]);
  assert.deepEqual(chat.messages.map((one) => one.seq), [7], "shown once");
});

for (const [merge, wanted] of [[true, ["Bearer t", "Bearer ada"]], [false, ["Bearer t"]]]) {
  test(`a message that was not sent before signing in is ${merge ? "the user's with" : "dropped without"} merge`, async (t) => {
    const tokens = [];
    const chat = open(t, async ({ clientId }, _, token) => {
      tokens.push(token);
      return tokens.length > 1 ? json({ clientId, seq: 8 }) : json({}, 503, { "Retry-After": "60" });
    });
    chat.start();
    while (chat.state !== "online") await next(chat, "state");
    chat.send({ type: "TEXT", text: "hello" });
    while (tokens.length === 0) await new Promise(setImmediate);
    await chat.identify("signed", merge);
    while (chat.state !== "online") await next(chat, "state");
    while (chat.waiting.length > 0) {
      page.dispatchEvent(new Event("online")); // It ends the wait.
      await new Promise(setImmediate);
    }
    assert.deepEqual(tokens, wanted);
  });
}

// The server limits the sessions of an address, and a page asks for one each time it is loaded.
test("a user's new session is not renewed, which would not extend it", async (t) => {
  const chat = open(t);
  const before = sessions;
  await chat.identify("signed", false);
  while (chat.state !== "online") await next(chat, "state");
  assert.equal(sessions - before, 1);
});

test("a user whose session cannot start does not get the session of the user before", async (t) => {
  const tokenOf = (sub) => `u1.${Buffer.from(JSON.stringify({ sub })).toString("base64url")}.x`;
  const chat = open(t);
  await chat.identify(tokenOf("ada"), false);
  isRefused = true;
  t.after(() => { isRefused = false; });
  await assert.rejects(chat.identify(tokenOf("ada"), false));
  assert.ok(chat.hasSession, "the same user goes on");
  await assert.rejects(chat.identify(tokenOf("bob"), false));
  assert.ok(!chat.hasSession);
  assert.deepEqual(chat.messages, []);
});

/** log returns a function that answers requests for the history of a conversation, like the server. */
const log = (messages) => (query) => {
  const limit = Math.min(Number(query.get("limit")), 200), before = Number(query.get("before") ?? Infinity);
  const reachable = messages.slice(-200).filter((one) => one.seq < before);
  return { events: reachable.slice(-limit), more: reachable.length > limit };
};

const message = (seq) => ({ kind: "message", seq, id: `m${seq}`, from: "bot", at: seq, response: { type: "TEXT", text: `${seq}` } });

const numbers = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

for (const [missed, wanted] of [[130, numbers(1, 140)], [260, numbers(71, 270)]]) {
  test(`a page that missed ${missed} messages shows no gap`, async (t) => {
    const messages = numbers(1, 10).map(message);
    const chat = open(t, undefined, { place: "local", history: log(messages) });
    chat.start();
    while (chat.state !== "online") await next(chat, "state");
    messages.push(...numbers(11, 10 + missed).map(message)); // The stream does not bring them to a suspended page.
    document.dispatchEvent(new Event("visibilitychange"));
    while (chat.messages.at(-1).seq < 10 + missed) await next(chat, "message");
    assert.deepEqual(chat.messages.map((one) => one.seq), wanted);
  });
}

test("a page that gets a later event than the next one reads the events between", async (t) => {
  const messages = numbers(1, 10).map(message);
  let isAway = false;
  const chat = open(t, async (_, tell) => { tell(messages.at(-1)); return json({}, 503, { "Retry-After": "60" }); }, {
    place: "local", history: (query) => { if (isAway) throw new TypeError("the network is away"); return log(messages)(query); },
  });
  chat.start();
  while (chat.state !== "online") await next(chat, "state");
  messages.push(...numbers(11, 140).map(message));
  isAway = true;
  chat.send({ type: "TEXT", text: "hello" }); // The server answers with message 140.
  while (chat.messages.at(-1).seq < 140) await next(chat, "message");
  await new Promise(setImmediate);
  isAway = false;
  document.dispatchEvent(new Event("visibilitychange"));
  while (chat.messages.length < 140) await next(chat, "message");
  assert.deepEqual(chat.messages.map((one) => one.seq), numbers(1, 140));
});

test("the history of a visitor who signs out meanwhile is not shown", async (t) => {
  let isAsked, answers;
  const asked = new Promise((resolve) => { isAsked = resolve; });
  const held = new Promise((resolve) => { answers = resolve; });
  let requests = 0;
  const chat = open(t, undefined, { place: "local", history: async () => {
    if (++requests === 1) return { events: [message(1)], more: true };
    isAsked();
    await held;
    return { events: [message(2)], more: false };
  } });
  chat.start();
  while (chat.state !== "online") await next(chat, "state");
  document.dispatchEvent(new Event("visibilitychange"));
  await asked;
  await chat.signOut();
  answers();
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  assert.deepEqual(chat.messages, []);
});
