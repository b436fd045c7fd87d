import assert from "node:assert/strict";
import { test } from "node:test";
import { backOff, eventParser, follow, isFinal, parsed } from "../src/stream.js";

const encoder = new TextEncoder();

/** message returns an event as the server sends it. */
const message = (seq, text) => `id: ${seq}\ndata: {"kind":"message","seq":${seq},"response":{"type":"TEXT","text":"${text}"}}\n\n`;

/** read parses the pieces of a stream and returns the data of its events. */
const read = (...pieces) => {
  const events = [], decoder = new TextDecoder();
  const parse = eventParser((data) => events.push(data));
  for (const piece of pieces) parse(decoder.decode(piece, { stream: true }));
  return events;
};

const endings = { "line feeds": "\n", "returns": "\r", "both": "\r\n" };

for (const [name, ending] of Object.entries(endings)) {
  const whole = encoder.encode(`\uFEFFretry: 1000\n: \n\nid: 1\ndata: {"a":"Zwölf 🐠"}\n\n: \nevent: x\ndata:one\ndata:  two\ndata\n\ndata: end\n\n`.replaceAll("\n", ending));
  const wanted = [`{"a":"Zwölf 🐠"}`, "one\n two\n", "end"];

  test(`an event may be cut after each byte, with ${name}`, () => {
    assert.deepEqual(read(whole), wanted);
    for (let i = 0; i <= whole.length; i++) assert.deepEqual(read(whole.slice(0, i), whole.slice(i)), wanted, `cut after ${i}`);
    assert.deepEqual(read(...[...whole].map((byte) => Uint8Array.of(byte))), wanted);
  });
}

test("an event without its empty line is no event", () => {
  assert.deepEqual(read(encoder.encode("data: half\n")), []);
});

test("the server sets the wait before the next try", () => {
  const waits = [];
  eventParser(() => {}, (milliseconds) => waits.push(milliseconds))("retry: 250\nretry: soon\nretry: 99999999\nretry:7\n");
  assert.deepEqual(waits, [250, 7]);
});

test("an event without an end is refused", () => {
  for (const piece of ["x".repeat(1 << 16), `data: ${"x".repeat(1 << 16)}\n`]) {
    const parse = eventParser(() => {});
    assert.throws(() => { for (let i = 0; i < 40; i++) parse(piece); }, /longer than 1 MB/);
  }
});

test("data that is no event is left out", () => {
  assert.deepEqual(parsed(`{"kind":"read","seq":7}`), { kind: "read", seq: 7 });
  for (const data of ["", "{", "null", "7", `"text"`, "[]", `{"kind":7}`, "{}"]) assert.equal(parsed(data), null, data);
});

test("waits grow to half a minute, and are never shorter than the server asks", () => {
  for (const [failures, asked, least] of [
    [0, undefined, 1000], [1, undefined, 1000], [2, undefined, 2000], [5, undefined, 16_000], [6, undefined, 30_000], [99, undefined, 30_000],
    [1, 7000, 7000], [5, 7000, 16_000],
  ]) {
    const wait = backOff(failures, asked);
    assert.ok(wait >= least && wait <= 1.25 * least, `${failures}, ${asked}: ${wait}`);
  }
});

test("what the server refuses for good is not tried again", () => {
  for (const status of [400, 403, 404, 413, 415]) assert.ok(isFinal({ status }), status);
  for (const status of [401, 408, 429, 500, 503, undefined]) assert.ok(!isFinal({ status }), status);
});

/** Server streams its messages, but cuts the first stream after a number of bytes. */
class Server {
  said = [message(1, "eins"), message(2, "zwölf"), message(3, "🐠")];
  asked = [];

  constructor(cut) { this.cut = cut; }

  open = async (query) => {
    this.asked.push(query);
    const after = Number(/after=(\d+)/.exec(query)[1]);
    const bytes = encoder.encode(`retry: 5\n\n${this.said.slice(after).join("")}`);
    const end = this.asked.length === 1 ? Math.min(this.cut, bytes.length) : bytes.length;
    return new Response(new ReadableStream({
      start(controller) {
        if (end > 0) controller.enqueue(bytes.slice(0, end));
        controller.close();
      },
    }));
  };
}

test("a stream that is cut after each byte resumes: nothing is lost or doubled", async () => {
  const length = encoder.encode(`retry: 5\n\n${new Server(0).said.join("")}`).length;
  for (let cut = 0; cut <= length; cut++) {
    const server = new Server(cut), end = new AbortController();
    const seen = [];
    await follow({
      open: server.open, after: () => seen.at(-1) ?? 0, onState: () => {}, signal: end.signal, wait: async () => {},
      onEvent: (event) => {
        seen.push(event.seq);
        if (event.seq === 3) end.abort();
      },
    });
    assert.deepEqual(seen, [1, 2, 3], `cut after ${cut} bytes`);
    assert.ok(server.asked.length <= 2);
  }
});

/** waited follows a server with this answer for a number of attempts. It returns the waits between them. */
const waited = async (answer, tries) => {
  const waits = [], end = new AbortController();
  let asked = 0;
  await follow({
    open: async () => {
      if (++asked >= tries) end.abort();
      return answer(asked);
    },
    after: () => 0, onEvent: () => {}, onState: () => {}, signal: end.signal, wait: async (milliseconds) => { waits.push(milliseconds); },
  });
  return waits;
};

test("tries that fail wait longer each time", async () => {
  const waits = await waited(() => { throw new TypeError("the network is away"); }, 4);
  waits.forEach((one, i) => assert.ok(one >= 1000 * 2 ** i && one <= 1250 * 2 ** i, `${i}: ${one}`));
  assert.equal(waits.length, 3);
});

test("the server may ask for a longer wait", async () => {
  const waits = await waited(() => { throw Object.assign(new Error("busy"), { status: 503, retryAfter: 3000 }); }, 4);
  waits.forEach((one, i) => assert.ok(one >= [3000, 3000, 4000][i] && one <= [3750, 3750, 5000][i], `${i}: ${one}`));
  assert.equal(waits.length, 3);
});

test("a refusal ends it", async () => {
  const states = [];
  await follow({
    open: async () => { throw Object.assign(new Error("no such channel"), { status: 404 }); },
    after: () => 0, onEvent: () => {}, onState: (state) => states.push(state), signal: new AbortController().signal,
  });
  assert.deepEqual(states, ["refused"]);
});

/** held returns an answer that a proxy delays until the widget gives up. */
const held = (signal) => new Response(new ReadableStream({
  start(controller) { signal.addEventListener("abort", () => controller.error(signal.reason)); },
}));

test("after two silent streams it polls", async () => {
  const asked = [], seen = [], end = new AbortController();
  await follow({
    open: async (query, signal) => {
      asked.push(query);
      if (!query.includes("wait=")) return held(signal);
      const seq = seen.length + 1;
      return Response.json({ events: [{ kind: "message", seq, response: {} }] });
    },
    after: () => seen.length, onState: () => {}, signal: end.signal, silence: 1, wait: async () => {},
    onEvent: (event) => {
      seen.push(event.seq);
      if (seen.length === 2) end.abort();
    },
  });
  assert.deepEqual(asked, ["after=0", "after=0", "after=0&wait=25", "after=1&wait=25"]);
  assert.deepEqual(seen, [1, 2]);
});
