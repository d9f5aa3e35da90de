// What a cell put out, as HTML.

import { escape, html as markdown } from "./markdown.mjs";
import { BadNotebook, joined } from "./notebook.mjs";

// Colours of a terminal in a program's text.
const ESCAPES = /\x1b\[[0-9;]*m/g;

function pre(text, kind = "") {
  return `<pre class="text${kind && ` ${kind}`}"><code>${escape(text.replace(ESCAPES, ""))}</code></pre>`;
}

// The first form that an output has is shown.
const FORMS = [
  ["text/html", (text) => `<div class="html">${text}</div>`],
  ["text/markdown", (text) => `<div class="note">${markdown(text)}</div>`],
  ["image/svg+xml", (text) => `<div class="html"><img src="data:image/svg+xml;base64,${Buffer.from(text).toString("base64")}" alt=""></div>`],
  ["text/plain", (text) => pre(text)],
];

/** @returns {string} HTML of one output as the notebook stores it */
export function html(output) {
  switch (output.output_type) {
    case "stream":
      return pre(joined(output.text), output.name === "stderr" ? "error" : "");
    case "error":
      return pre(joined(output.traceback?.join("\n")) || `${output.ename}: ${output.evalue}`, "error");
    case "display_data":
    case "execute_result":
      for (const [type, show] of FORMS) {
        const text = joined(output.data[type]);
        if (text !== "") return show(text);
      }
      return "";
    default:
      throw new BadNotebook(`an output of the kind ${output.output_type} has no form on a page`);
  }
}
