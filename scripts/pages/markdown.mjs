// Markdown to HTML, as the chapters use it: formulas between dollar signs,
// blocks that begin with a bold "Definition: …", Go code, keys of numbers.

import { tex } from "@mdit/plugin-tex";
import hljs from "highlight.js/lib/core";
import go from "highlight.js/lib/languages/go";
import asm from "highlight.js/lib/languages/x86asm";
import katex from "katex";
import MarkdownIt from "markdown-it";
import { escapeHtml as escape } from "markdown-it/lib/common/utils.mjs";

export { escape }; // text, so that it is safe inside an element or a quoted attribute

hljs.registerLanguage("go", go);
hljs.registerLanguage("asm", asm);

/** Code in spans with the classes of highlight.js; as it is where the language is not known. */
export function highlight(code, language) {
  if (!hljs.getLanguage(language ?? "")) return escape(code);
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}

/** The name of a heading in an address: "Ridge point" is ridge-point. */
export function slug(text) {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
}

// A number in the text has its key beside it: 153.0<!--fact chip.ridge-->.
const KEYS = /<!--\s*facts? [^]*?-->/g;

// What a quoted block is, from the bold words that it begins with.
const DEVICE = /^(Definition|Example|Takeaway|Question)\b/;

/** Gives each quoted block the class of what it is. */
function devices(state) {
  const { tokens } = state;
  const open = [];
  tokens.forEach((token, i) => {
    if (token.type === "blockquote_open") {
      open.push(token);
      const inline = tokens[i + 1]?.type === "paragraph_open" ? tokens[i + 2] : undefined;
      const [first, second] = (inline?.children ?? []).filter((child) => child.type !== "text" || child.content !== "");
      const [, name] = (first?.type === "strong_open" && DEVICE.exec(second?.content ?? "")) || [];
      if (!name) return;
      token.tag = "div";
      token.attrJoin("class", `device ${name.toLowerCase()}`);
    } else if (token.type === "blockquote_close") {
      token.tag = open.pop().tag;
    }
  });
}

/** A formula, for the eye and (in MathML) for the ear. What stands far apart in a display goes below where there is no room. */
function formula(text, displayMode) {
  const set = (part) => katex.renderToString(part, { displayMode, output: "htmlAndMathml", throwOnError: true, strict: "error" });
  if (!displayMode) return set(text);
  const parts = /\\begin\b/.test(text) ? [text] : text.split(/(?:\\qquad\s*)+/);
  return `<div class="formula">${parts.map(set).join("")}</div>\n`;
}

const markdown = new MarkdownIt({
  html: true,
  highlight: (code, language) => highlight(code, language),
}).use(tex, { delimiters: "dollars", render: formula });

markdown.core.ruler.push("devices", devices);

/** @returns {string} HTML of a Markdown cell or output, without the keys of its numbers */
export function html(source) {
  return markdown.render(source.replace(KEYS, ""));
}
