import assert from "node:assert/strict";
import { test } from "node:test";
import { linkURL, mediaURL } from "../src/dom.js";
import { blocksOf } from "../src/markdown.js";

/** shown prints a tree. Each style becomes a tag, and text is escaped. */
const shown = (parts) => parts.map((part) => {
  const inner = part.parts ? shown(part.parts) : (part.text ?? "").replaceAll("<", "&lt;");
  if (part.kind === "text") return inner;
  if (part.kind === "link") return `<a ${part.url}>${inner}</a>`;
  return part.kind === "break" ? "<br>" : `<${part.kind}>${inner}</${part.kind}>`;
}).join("");

const cases = {
  "": "",
  "plain": "<p>plain</p>",
  "two\nlines": "<p>two<br>lines</p>",
  "two\r\n\r\nparagraphs": "<p>two</p><p>paragraphs</p>",
  "**bold** and *italic* and __bold__ and _italic_": "<p><strong>bold</strong> and <em>italic</em> and <strong>bold</strong> and <em>italic</em></p>",
  "**bold *and italic***": "<p><strong>bold <em>and italic</em></strong></p>",
  "snake_case_name and 2 * 3 * 4": "<p>snake_case_name and 2 * 3 * 4</p>",
  "** no bold ** and *open": "<p>** no bold ** and *open</p>",
  "`code **not bold**` and `open": "<p><code>code **not bold**</code> and `open</p>",
  "\\*not italic\\*": "<p>*not italic*</p>",
  "a\\b": "<p>a\\b</p>",
  "- one\n- **two**\n\nend": "<ul><li>one</li><li><strong>two</strong></li></ul><p>end</p>",
  "3. three\n4) four": "<ol><li>three</li><li>four</li></ol>",
  "```go\nx := *p\n```\nend": "<pre>x := *p</pre><p>end</p>",
  "```\nnever ends": "<pre>never ends</pre>",
  "[a *b*](https://shop.example/x_y_z)": "<p><a https://shop.example/x_y_z>a <em>b</em></a></p>",
  "see https://shop.example/a_b?c=d, please": "<p>see <a https://shop.example/a_b?c=d>https://shop.example/a_b?c=d</a>, please</p>",
  "(https://shop.example)": "<p>(<a https://shop.example>https://shop.example</a>)</p>",
  "<b>bold</b> &lt;": "<p>&lt;b>bold&lt;/b> &lt;</p>",
  "![picture](https://shop.example/x.png)": "<p>!<a https://shop.example/x.png>picture</a></p>",
};

test("the subset", () => {
  for (const [text, wanted] of Object.entries(cases)) assert.equal(shown(blocksOf(text)), wanted, text);
});

test("every text keeps its letters", () => {
  const letters = (text) => text.replace(/[^a-z]/g, "");
  for (let seed = 1; seed < 2000; seed++) {
    let state = seed, text = "";
    for (let i = 0; i < 30; i++) {
      state = (state * 1103515245 + 12345) % 2147483648;
      text += "ab*_`[]\\\n -"[state % 11];
    }
    if (text.includes("```")) continue; // A language's name is not shown.
    const kept = (parts) => parts.map((part) => (part.parts ? kept(part.parts) : part.text ?? "")).join("");
    assert.equal(letters(kept(blocksOf(text))), letters(text), JSON.stringify(text));
  }
});

test("hostile texts take little work", { timeout: 5000 }, () => {
  for (const piece of ["*", "_", "**a", "*a ", "_a ", "[", "[a](", "`", "``a", "\\", "- ", "h", "https://", "*_", "[a](b", "**a *b "]) {
    blocksOf(piece.repeat(Math.ceil(20000 / piece.length)));
  }
});

test("links go only where they may", () => {
  const base = "https://chat.example/webchat/";
  for (const url of ["javascript:alert(1)", " JaVaScRiPt:alert(1)", "java\nscript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "blob:https://chat.example/x",
    "https://user:word@shop.example/", "http://[", "", null, undefined, 7, {}]) assert.equal(linkURL(url, base), "", String(url));
  for (const url of ["https://shop.example/", "http://shop.example/", "mailto:ada@shop.example", "tel:+4930123"]) assert.equal(linkURL(url, base), url);
  assert.equal(linkURL("files/7", base), "https://chat.example/webchat/files/7");
});

test("pictures come by https or from the chat", () => {
  const base = "http://localhost:8080/webchat/";
  for (const url of ["http://shop.example/x.png", "data:image/png;base64,AA", "javascript:1", "mailto:a@b"]) assert.equal(mediaURL(url, base), "", url);
  for (const url of ["https://shop.example/x.png", "http://localhost:8080/webchat/files/7"]) assert.equal(mediaURL(url, base), url);
  assert.equal(mediaURL("files/7", base), "http://localhost:8080/webchat/files/7");
});
