// The frame of a page round the text of a chapter.

import { escape, highlight, html as markdown } from "./markdown.mjs";
import { joined } from "./notebook.mjs";
import { html as output } from "./outputs.mjs";

export const SITE = "Memory wall";

// ------------------------------------------------------------------ the text

/** The first comment of a folded cell says what it does. */
function says(cell) {
  if (cell.tags.includes("parameters")) return "Its constants are there to be changed, in the notebook.";
  return /^\/\/ (.+)$/m.exec(cell.source.split("\n", 1)[0])?.[1] ?? "";
}

// What lesson.Progress leaves when a run has ended: news for who waits, and for nobody later.
const DONE = /^[^\n]*: done in [\d.,]+ [nµm]?s\n$/;

// Stands once a page: each figure's tag names the machine.
const MEASURED = '<p class="machine">This and every later measurement on this page was made on the author’s machine. Run the notebook to measure yours.</p>';

// What a cell imports, as far as its code begins: every cell has it, and no reader needs it.
const IMPORTS = /^((?:\/\/.*\n)*)(import \([^]*?\n\)\n\n?%%)\n/;

function source(cell) {
  const [all, comment, imports] = IMPORTS.exec(cell.source) ?? ["", "", ""];
  const block = (text, name) => `<pre class="${name}"><code>${highlight(text, "go")}</code></pre>`;
  return (imports && `<details class="imports"><summary>What it imports</summary>${block(imports, "source")}</details>`) +
    block(comment + cell.source.slice(all.length), "source");
}

function outputs(cell) {
  const shown = cell.outputs.filter((one) => !DONE.test(joined(one.data?.["text/plain"]))).map(output).filter(Boolean);
  if (shown.length === 0) return "";
  const all = `<div class="outputs">${cell.remark ?? ""}${shown.join("\n")}</div>`;
  return cell.outputsFolded ? `<details class="folded"><summary>Results</summary>${all}</details>` : all;
}

/** Where a cell begins: a link may name it, as notebook.ipynb#cell-id=NAME. */
function start(cell) {
  return cell.id ? `<span data-cell="${escape(cell.id)}"></span>` : "";
}

function code(cell) {
  const words = says(cell);
  return `<div class="cell"><details class="code"${cell.folded ? "" : " open"}>` +
    `<summary>Code${words && ` <span class="says">${escape(words)}</span>`}</summary>${source(cell)}</details>\n${outputs(cell)}</div>`;
}

/** The cell behind a question computes its answer: folded as a whole. */
function check(cell) {
  return '<details class="check"><summary>The code that computes and checks this answer</summary>' +
    `${source(cell)}${outputs({ ...cell, outputsFolded: false })}</details>`;
}

/** @returns {string} HTML of all cells, in the order of the notebook */
export function body(cells) {
  const parts = [], first = cells.find((cell) => cell.tags.includes("machine"));
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i] === first ? { ...cells[i], remark: MEASURED } : cells[i];
    if (cell.tags.includes("setup")) continue; // it says how the kernel builds
    if (cell.type === "code") {
      parts.push(start(cell) + code(cell));
    } else if (cell.type === "markdown") {
      let text = markdown(cell.source);
      if (cell.tags.includes("question")) {
        if (cells[i + 1]?.tags.includes("answer")) text += check(cells[++i]);
        text = `<div class="question-card">${text}</div>`;
      }
      if (cell.id === "keep") text = `<div class="keep">${text}</div>`;
      parts.push(start(cell) + text);
    }
  }
  return parts.join("\n");
}

// ----------------------------------------------------------------- the frame

/** What a reader does who wants more than to read. */
export function run(notebook) {
  const file = escape(`${notebook.name}.ipynb`);
  return `<details class="run"><summary>Run this page as a notebook</summary>
<p>This page shows the notebook <a href="notebooks/${file}" download>${file}</a> with the results that are stored in it. To run it and to change its numbers, type this in the folder of the lesson:</p>
<pre class="text"><code>./scripts/lesson</code></pre>
<p>It opens JupyterLab on your own copy, in which this page is <code>my-lesson/${file}</code>.</p>
</details>`;
}

/** The sections of a page below its title, nested by level. */
function contents(headings) {
  let html = "";
  let level = 1;
  for (const heading of headings.filter((one) => one.level === 2 || one.level === 3)) {
    if (heading.level > level) html += "<ol>".repeat(heading.level - level);
    else html += "</li>" + "</ol></li>".repeat(level - heading.level);
    level = heading.level;
    html += `<li><a href="#${encodeURIComponent(heading.id)}">${escape(heading.text)}</a>`;
  }
  return html + "</li></ol>".repeat(level - 1);
}

function navigation(pages, here) {
  const items = pages.map((page) => {
    const current = page === here;
    const sections = current ? contents(page.headings) : "";
    return `<li${page.chapter ? "" : ' class="apart"'}><a href="${page.page}"${current ? ' aria-current="page"' : ""}>${escape(page.title)}</a>${sections}</li>`;
  });
  return `<ol class="chapters">\n${items.join("\n")}\n</ol>`;
}

function neighbour(page, rel, label) {
  return page ? `<a class="${rel}" rel="${rel}" href="${page.page}"><span>${label}</span> ${escape(page.title)}</a>` : "";
}

/**
 * @param {object} here the page: {page, title, headings, chapter, content, description, previous, next}
 * @param {object[]} pages all pages of the site, in order
 * @returns {string} the whole document
 */
export function document(here, pages) {
  const { previous, next } = here;
  const pager = previous || next
    ? `<nav class="pager" aria-label="Previous and next chapter">\n${neighbour(previous, "prev", "Previous")}\n${neighbour(next, "next", "Next")}\n</nav>`
    : "";
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(here.title)} | ${SITE}</title>
<meta name="description" content="${escape(here.description)}">
<link rel="icon" href="assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="assets/katex.css">
<link rel="stylesheet" href="assets/site.css">
<link rel="stylesheet" href="assets/palette.css">
</head>
<body>
<script src="assets/start.js"></script>
<a class="skip" href="#content">Skip to the text</a>
<header class="top">
<a class="brand" href="index.html"><svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true"><path d="M4 26 L15 10 H28" fill="none" stroke="currentColor" stroke-width="3.5" stroke-linecap="round" stroke-linejoin="round"/></svg>${SITE}</a>
<button type="button" id="menu" aria-controls="contents" aria-expanded="false">Contents</button>
<div class="settings" hidden>
<label>Code <select id="code"><option value="written">as written</option><option value="shown">shown</option><option value="folded">folded</option></select></label>
<label>Theme <select id="theme"><option value="system">system</option><option value="light">light</option><option value="dark">dark</option></select></label>
</div>
</header>
<div class="frame">
<nav id="contents" aria-label="Contents">
${navigation(pages, here)}
</nav>
<main id="content" tabindex="-1">
<article${here.chapter ? "" : ' class="apart"'}>
${here.content}
</article>
${pager}
</main>
</div>
<footer class="bottom">
<p>Every number and figure here was computed by the Go packages of the lesson. <a href="assets/licences.txt">Licences</a> of what the pages are built with.</p>
</footer>
<script src="assets/site.js"></script>
</body>
</html>
`;
}
