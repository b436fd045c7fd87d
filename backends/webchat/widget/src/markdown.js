// A safe subset of Markdown: bold, italic, code, lists and links. A text is parsed to a tree, which is converted to
// nodes of the page. Text is never parsed as HTML.
import { el, link } from "./dom.js";

/**
 * @typedef {object} Part is a piece of a text
 * @property {"text" | "strong" | "em" | "code" | "link" | "break" | "p" | "pre" | "ul" | "ol" | "li"} kind
 * @property {string} [text]
 * @property {string} [url]
 * @property {Part[]} [parts]
 */

/** deepest limits the nesting of styles, and so the time to parse a text. */
const deepest = 4;

const escapable = "\\`*_[]()#-.!~>+";

/**
 * Returns the paragraphs, lists and blocks of code of a text.
 * @param {string} text
 * @returns {Part[]}
 */
export const blocksOf = (text) => {
  /** @type {Part[]} */
  const blocks = [];
  /** @type {string[]} */
  let lines = [];
  const endParagraph = () => {
    if (lines.length > 0) blocks.push({ kind: "p", parts: inlineOf(lines.join("\n")) });
    lines = [];
  };
  const all = text.replace(/\r\n?/g, "\n").split("\n");
  for (let i = 0; i < all.length; i++) {
    const line = all[i];
    const item = /^ {0,3}(?:([-*+])|(\d{1,9})[.)]) +(\S.*)$/.exec(line);
    if (/^ {0,3}```[\w+#.-]* *$/.test(line)) {
      endParagraph();
      const code = [];
      while (++i < all.length && !/^ {0,3}``` *$/.test(all[i])) code.push(all[i]);
      blocks.push({ kind: "pre", text: code.join("\n") });
    } else if (item) {
      endParagraph();
      const kind = item[1] ? "ul" : "ol";
      let list = blocks.at(-1);
      if (list?.kind !== kind) blocks.push((list = { kind, text: item[2], parts: [] }));
      list.parts?.push({ kind: "li", parts: inlineOf(item[3]) });
    } else if (line.trim() === "") endParagraph();
    else lines.push(line);
  }
  endParagraph();
  return blocks;
};

/**
 * Returns the parts of a paragraph or of a list item.
 * @param {string} text
 * @param {number} [depth]
 * @param {boolean} [isLinked] is true within a link, which cannot contain another link
 * @returns {Part[]}
 */
export const inlineOf = (text, depth = 0, isLinked = false) => {
  /** @type {Part[]} */
  const parts = [];
  let plain = "";
  /** @type {Set<string>} */
  const unclosed = new Set(); // Marks that are not closed in the rest of the text.
  const flush = () => {
    if (plain !== "") parts.push({ kind: "text", text: plain });
    plain = "";
  };
  /** @type {(part: Part) => void} */
  const push = (part) => {
    flush();
    parts.push(part);
  };
  /** @type {(mark: string, from: number) => number} */
  const closes = (mark, from) => {
    if (unclosed.has(mark)) return -1;
    for (let at = from; (at = text.indexOf(mark, at)) >= 0; at += mark.length) {
      // A star of a bold mark does not end an italic part, and neither does a star after a blank.
      if (mark === "*" && text[at + 1] === "*") at++;
      else if (text[at - 1] === "\\" || (mark !== "`" && /\s/.test(text[at - 1]))) continue;
      else if (mark === "_" && /\w/.test(text[at + 1] ?? "")) continue;
      else return mark.length === 2 && text[at + 2] === mark[0] ? at + 1 : at; // The inner style ends first.
    }
    unclosed.add(mark);
    return -1;
  };
  for (let i = 0; i < text.length;) {
    const c = text[i];
    if (c === "\\" && escapable.includes(text[i + 1] ?? " ")) {
      plain += text[i + 1];
      i += 2;
      continue;
    }
    if (c === "\n") {
      push({ kind: "break" });
      i++;
      continue;
    }
    if (c === "`") {
      const end = closes("`", i + 1);
      if (end > i + 1) {
        push({ kind: "code", text: text.slice(i + 1, end) });
        i = end + 1;
        continue;
      }
    }
    if ((c === "*" || c === "_") && depth < deepest) {
      const mark = text[i + 1] === c ? c + c : c;
      const from = i + mark.length;
      const mayBegin = /\S/.test(text[from] ?? " ") && (c === "*" || !/\w/.test(text[i - 1] ?? " "));
      const end = mayBegin ? closes(mark, from) : -1;
      if (end > from) {
        push({ kind: mark.length === 2 ? "strong" : "em", parts: inlineOf(text.slice(from, end), depth + 1, isLinked) });
        i = end + mark.length;
        continue;
      }
      plain += mark;
      i = from;
      continue;
    }
    if (c === "[" && !isLinked) {
      linked.lastIndex = i;
      const found = linked.exec(text);
      if (found) {
        push({ kind: "link", url: found[2], parts: inlineOf(found[1], depth + 1, true) });
        i = linked.lastIndex;
        continue;
      }
    }
    if (c === "h" && !/\w/.test(text[i - 1] ?? " ") && !isLinked) {
      address.lastIndex = i;
      const found = address.exec(text);
      if (found) {
        const url = found[0].replace(/[.,;:!?'")\]*_]+$/, "");
        push({ kind: "link", url, parts: [{ kind: "text", text: url }] });
        i += url.length;
        continue;
      }
    }
    plain += c;
    i++;
  }
  flush();
  return parts;
};

// Both patterns limit the length of a match, so that a text with many brackets takes little time.
const linked = /\[([^[\]\n]{1,300})\]\(([^\s()<>]{1,1000})\)/y;
const address = /https?:\/\/[^\s<>"]{1,1000}/y;

/**
 * Returns the nodes of a text.
 * @param {string} text
 * @param {string} base is the address for relative links
 * @returns {Node[]}
 */
export const nodesOf = (text, base) => blocksOf(text).map((block) => nodeOf(block, base));

/**
 * @param {Part} part
 * @param {string} base
 * @returns {Node}
 */
const nodeOf = (part, base) => {
  const inner = () => (part.parts ?? []).map((one) => nodeOf(one, base));
  switch (part.kind) {
    case "text": return document.createTextNode(part.text ?? "");
    case "break": return el("br");
    case "pre": return el("pre", { tabindex: "0" }, el("code", {}, part.text));
    case "code": return el("code", {}, part.text);
    case "link": return link(part.url, base, ...inner());
    case "ol": return el("ol", { start: part.text }, ...inner());
    default: return el(part.kind, {}, ...inner());
  }
};
