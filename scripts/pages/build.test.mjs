// Tests of the builder, on small notebooks of their own and on the lesson's.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "./build.mjs";

const PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>';
const DATA = `data:image/svg+xml;base64,${Buffer.from(PICTURE).toString("base64")}`;
const FIGURE =
  `<div class="memorywall-figure" id="figure-1-1"><div class="memorywall-stage" style="width:760px;max-width:100%"><img src="${DATA}" width="760" height="420" alt="It rises."></div>` +
  '<details><summary>The numbers behind this figure</summary><div style="overflow-x:auto;margin:4px 0"><table><thead><tr><th></th><th style="text-align:right">n</th></tr></thead><tbody><tr><td>a</td><td>1</td></tr></tbody></table></div></details>' +
  '<script type="application/json">{"option":"\\u003c/script>"}</script><script>drawAtOnce()</script></div>';

let folder;
before(() => (folder = mkdtempSync(join(tmpdir(), "memorywall-pages-"))));
after(() => rmSync(folder, { recursive: true }));

const text = (source, more = {}) => ({ cell_type: "markdown", id: `m${Math.random()}`, source, metadata: {}, ...more });
const code = (source, outputs = [], metadata = {}) => ({ cell_type: "code", id: `c${Math.random()}`, source, metadata, outputs, execution_count: 1 });
const shown = (data) => ({ output_type: "display_data", metadata: {}, data });

/** Builds a site of these notebooks, {name: cells}; returns what reads a file of it. */
function site(notebooks) {
  const from = mkdtempSync(join(folder, "notebooks-"));
  const out = join(mkdtempSync(join(folder, "site-")), "out");
  for (const [name, cells] of Object.entries(notebooks)) {
    writeFileSync(join(from, `${name}.ipynb`), JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells }));
  }
  build(out, from);
  return (file) => readFileSync(join(out, file), "utf8");
}

/** The page of one notebook with a title and these cells. */
const page = (...cells) => site({ "00_index": [text("# A title"), ...cells] })("index.html");

describe("text", () => {
  test("keys of numbers are dropped, and nothing else", () => {
    const html = page(text("It is 153.0<!--fact chip.ridge--> FLOP/byte.\n\n<!--facts 312=chip.peak_flops/1e12; 2039=x-->\n\nEnd. <!-- a comment -->"));
    assert.match(html, /<p>It is 153\.0 FLOP\/byte\.<\/p>/);
    assert.doesNotMatch(html, /fact /);
    assert.match(html, /<!-- a comment -->/);
  });

  test("blocks that begin with a bold word have its class", () => {
    const html = page(text("> **Definition: ridge point.** The **ridge point** is it.\n\n> **Takeaway.** So.\n\n> **Example.** One.\n>\n> Two.\n\n> Definition: plain\n\n> **Question.** Why?"));
    for (const name of ["definition", "takeaway", "example", "question"]) assert.match(html, new RegExp(`<div class="device ${name}">`));
    assert.equal(html.match(/<blockquote>/g).length, 1);
    assert.equal(html.match(/<\/blockquote>/g).length, 1);
    assert.match(html, /<meta name="description" content="Question\. Why\?">/);
  });

  test("formulas are set at build time, and can be heard", () => {
    const html = page(text("A line with $2n^3$ and\n\n$$\\frac{a}{b}$$\n\n> in a block\n>\n> $$x$$\n"));
    assert.equal(html.match(/<math /g).length, 3);
    assert.equal(html.match(/class="katex-html" aria-hidden="true"/g).length, 3);
    assert.equal(html.match(/<div class="formula"><span class="katex-display">/g).length, 2);
  });

  test("formulas far apart in one display can stand below each other", () => {
    const parts = (tex) => page(text(`$$${tex}$$`)).match(/class="katex-display"/g).length;
    assert.equal(parts("a = b \\qquad\\qquad c = d"), 2);
    assert.equal(parts("\\begin{aligned} a \\qquad b \\end{aligned}"), 1);
  });

  test("a formula with a mistake stops the build and names the notebook", () => {
    assert.throws(() => page(text("$\\frac{a$")), /00_index\.ipynb: .*KaTeX/s);
  });

  test("a table scrolls in its own box, and its heads say what they head", () => {
    const html = page(text("| n | |\n|---|---|\n| 1 | 2 |"));
    assert.match(html, /<div class="scroll"><table class="grid">/);
    assert.match(html, /<th scope="col">n<\/th>\s*<td><\/td>/);
  });

  test("heads and colours that an output gives itself are left as they are", () => {
    const row = '<th scope="row" style="text-align:right;font-weight:normal">1</th><td>2</td>';
    const tick = '<b style="color:color-mix(in srgb,#2da44e 65%,currentcolor)">✓</b>';
    const html = page(code("x", [shown({ "text/html": `<div>${tick} so</div><table><thead><tr><th scope="col">n</th><td></td></tr></thead><tbody><tr>${row}</tr></tbody></table>` })]));
    for (const part of [row, tick, '<th scope="col">n</th><td></td>']) assert.ok(html.includes(part), part);
  });

  test("what a cell imports is folded, and what a progress bar leaves is dropped", () => {
    const html = page(code('// Draws.\nimport (\n\t"fmt"\n)\n\n%%\nfmt.Print()', [shown({ "text/html": "<div>rungs</div>", "text/plain": "three rungs: done in 4.660 s\n" }), shown({ "text/plain": "done" })]));
    assert.match(html, /<details class="imports">.*?"fmt".*?%%.*?<\/details><pre class="source"><code>.*?Draws\..*?\nfmt\.Print/s);
    assert.doesNotMatch(html, /rungs/);
    assert.match(html, />done</);
  });

  test("code is coloured, and is text", () => {
    const html = page(text('```go\nif a < b { fmt.Println("</script>") }\n```'));
    assert.match(html, /<span class="hljs-keyword">if<\/span> a &lt; b/);
    assert.doesNotMatch(html, /"<\/script>"/);
  });
});

describe("headings and links", () => {
  const two = (link) => site({
    "00_index": [text("# Start"), text(link)],
    "01_one": [text("# 01 · One"), text("## Ridge point\n\n## Ridge point\n\n### Is it: $so$?")],
    "02_two": [text("# 02 · Two"), text("A paragraph.", { id: "a_cell" })],
    glossary: [text("# Glossary"), text('## <a id="tile"></a>Tile'), text("## Ridge point", { id: "term-ridge" })],
  });

  test("a link to a notebook leads to its page, with its anchor as the page or JupyterLab names it", () => {
    for (const [link, href] of [
      ["01_one.ipynb", "01_one.html"], ["./01_one.ipynb#ridge-point", "01_one.html#ridge-point"],
      ["01_one.ipynb#Ridge-point", "01_one.html#ridge-point"], ["glossary.ipynb#tile", "glossary.html#tile"],
      ["glossary.ipynb#cell-id=term-ridge", "glossary.html#ridge-point"], ["02_two.ipynb#cell-id=a_cell", "02_two.html#cell-a-cell"],
      ["00_index.ipynb", "index.html"], ["#start", "#start"], ["https://example.org/a.ipynb", "https://example.org/a.ipynb"],
    ]) assert.ok(two(`[it](${link})`)("index.html").includes(`<a href="${href}">it</a>`), link);
  });

  test("a link that leads nowhere stops the build and names the notebook", () => {
    for (const link of ["03_none.ipynb", "01_one.ipynb#cell-id=none", "01_one.ipynb#none", "../README.md", "#none"]) {
      assert.throws(() => two(`[it](${link})`), new RegExp(`00_index\\.ipynb: the link ${link} leads to`));
    }
  });

  test("each heading has a name of its own, and is in the contents", () => {
    const html = two("")("01_one.html");
    for (const id of ["01-one", "ridge-point", "ridge-point-2"]) assert.match(html, new RegExp(`<h\\d id="${id}">`));
    assert.match(html, /<ol><li><a href="#ridge-point">Ridge point<\/a><\/li><li><a href="#ridge-point-2">Ridge point<\/a><ol><li>/);
    assert.match(two("")("glossary.html"), /<h2 id="tile-2"><a id="tile">/);
    assert.match(two("[it](02_two.ipynb#cell-id=a_cell)")("02_two.html"), /<p id="cell-a-cell">A paragraph/);
  });

  test("chapters are read in order; what is not a chapter stands apart", () => {
    const read = two("");
    assert.match(read("01_one.html"), /rel="prev" href="index\.html"[^]*rel="next" href="02_two\.html"/);
    assert.doesNotMatch(read("index.html"), /rel="prev"/);
    assert.doesNotMatch(read("02_two.html"), /rel="next"/);
    assert.doesNotMatch(read("glossary.html"), /rel="(prev|next)"/);
    assert.match(read("index.html"), /<li class="apart"><a href="glossary\.html">/);
    assert.match(read("glossary.html"), /<a href="glossary\.html" aria-current="page">/);
    assert.match(read("01_one.html"), /<title>01 · One \| /);
    assert.match(read("notebooks/01_one.ipynb"), /Ridge point/);
  });

  test("a notebook without a title is a mistake", () => {
    assert.throws(() => site({ "00_index": [text("## Not a title")] }), /00_index\.ipynb: it has no heading of the first level/);
  });
});

describe("cells", () => {
  test("code is open or folded as the notebook has it, and the set-up cell is left out", () => {
    const html = page(
      code("%noautoget", [], { tags: ["setup"] }), code("a := 1"),
      code("// Draws it.\nb := 2", [], { jupyter: { source_hidden: true } }), code("const c = 3", [], { tags: ["parameters"] }));
    assert.doesNotMatch(html, /noautoget/);
    assert.match(html, /<details class="code" open=""><summary>Code<\/summary><pre class="source"><code>a := /);
    assert.match(html, /<details class="code"><summary>Code <span class="says">Draws it\.<\/span><\/summary>/);
    assert.match(html, /<span class="says">Its constants are there to be changed/);
  });

  test("an answer is folded, and behind it, folded too, what computes it", () => {
    const question = text("**Question 1.** What?\n\n<details><summary>Answer</summary>\n\nFour.\n\n</details>", { metadata: { tags: ["question"] } });
    const answer = code("four()", [shown({ "text/html": "<div>✓</div>", "text/plain": "✓" })], { tags: ["answer"], jupyter: { source_hidden: true, outputs_hidden: true } });
    const html = page(question, answer);
    assert.match(html, /<div class="question-card"><p><strong>Question 1\.<\/strong>[^]*<details class="answer"><summary>Answer<\/summary>\s*<p>Four\.<\/p>\s*<\/details>\s*<details class="check"><summary>[^<]*<\/summary><pre class="source">[^]*four[^]*<div>✓<\/div>/);
    assert.doesNotMatch(html, /class="code"/);
  });

  test("of an output the best form is shown", () => {
    const html = page(code("x", [
      shown({ "text/html": "<i>html</i>", "text/markdown": "no", "text/plain": "no" }),
      shown({ "text/markdown": "**marked**", "text/plain": "no" }),
      shown({ "image/svg+xml": PICTURE, "text/plain": "no" }),
      { output_type: "execute_result", metadata: {}, execution_count: 1, data: { "text/plain": ["plain <\n", "two"] } },
      { output_type: "stream", name: "stdout", text: "\u001b[31mred\u001b[0m" },
      { output_type: "stream", name: "stderr", text: "bad" },
      { output_type: "error", ename: "ERROR", evalue: "exit status 1", traceback: ["line & line"] },
    ]));
    for (const part of ["<i>html</i>", "<strong>marked</strong>", 'src="figures/00-index-picture.svg"', '<pre class="text"><code>plain &lt;\ntwo</code>',
      "<code>red</code>", '<pre class="text error"><code>bad</code>', "line &amp; line"]) assert.ok(html.includes(part), part);
    assert.doesNotMatch(html, />no</);
  });

  test("an output of an unknown kind stops the build", () => {
    assert.throws(() => page(code("x", [{ output_type: "hologram" }])), /00_index\.ipynb: an output of the kind hologram/);
  });

  test("what was measured says so", () => {
    const output = [shown({ "text/plain": "1 s" })];
    const twice = page(code("x", output, { tags: ["machine"] }), code("y", output, { tags: ["machine"] }));
    assert.match(twice, /<div class="outputs"><p class="machine">/);
    assert.equal(twice.match(/class="machine"/g).length, 1); // not with each figure
    assert.doesNotMatch(page(code("x", output)), /class="machine"/);
  });

  test("a figure has its picture in a file, its numbers in a box, and waits for the page to draw it", () => {
    const read = site({ "00_index": [text("# A"), code("x", [shown({ "text/html": FIGURE, "text/plain": "Figure 1.1. It rises\nMore." })])] });
    const html = read("index.html");
    assert.match(html, /<figure class="html"><div class="memorywall-figure" id="figure-1-1"><div class="memorywall-stage"/);
    assert.match(html, /<img src="figures\/figure-1-1\.svg" width="760" height="420" alt="It rises\." decoding="async">/);
    assert.equal(read("figures/figure-1-1.svg"), PICTURE);
    assert.ok(html.includes('<script type="application/json">{"option":"\\u003c/script>"}</script></div>'));
    assert.doesNotMatch(html, /drawAtOnce/);
    assert.match(html, /<details class="numbers">[^]*<div style="margin:4px 0" class="scroll"><table class="grid">/);
  });

  test("two pictures that differ do not share a file", () => {
    const other = FIGURE.replaceAll(DATA, `data:image/svg+xml;base64,${Buffer.from(PICTURE.replace("9", "8")).toString("base64")}`);
    const read = site({
      "00_index": [text("# A"), code("x", [shown({ "text/html": FIGURE })])],
      "01_one": [text("# B"), code("x", [shown({ "text/html": other })])],
    });
    assert.match(read("01_one.html"), /figures\/figure-1-1-2\.svg/);
    assert.notEqual(read("figures/figure-1-1.svg"), read("figures/figure-1-1-2.svg"));
  });
});

/** What is wrong with the ends of elements, if anything is. */
function unclosed(html) {
  const open = [];
  const text = html.replace(/<!--.*?-->|<!DOCTYPE[^>]*>/gs, "").replace(/(<script[^>]*>).*?<\/script>/gs, "$1</script>");
  for (const [, slash, name, self] of text.matchAll(/<(\/?)([a-zA-Z][\w-]*)(?:"[^"]*"|[^>"])*?(\/?)>/g)) {
    if (self || /^(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/i.test(name)) continue;
    if (!slash) open.push(name);
    else if (open.at(-1) === name) open.pop();
    else return `${name} ends where ${open.at(-1)} is open`;
  }
  return open.length > 0 ? `${open.at(-1)} is not closed` : undefined;
}

describe("the site", () => {
  const files = (at) => readdirSync(at, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
    .map((one) => join(one.parentPath ?? one.path, one.name)).sort();

  test("the lesson's notebooks give the same bytes again", () => {
    const [one, two] = ["one", "two"].map((name) => {
      const out = join(folder, name);
      assert.ok(build(out) > 1);
      return out;
    });
    assert.deepEqual(files(one).map((file) => file.slice(one.length)), files(two).map((file) => file.slice(two.length)));
    for (const file of files(one)) assert.ok(readFileSync(file).equals(readFileSync(join(two, file.slice(one.length)))), file);
  });

  test("it holds all that it needs, once", () => {
    const out = join(folder, "whole");
    build(out);
    const named = files(out).map((file) => file.slice(out.length + 1));
    for (const name of ["index.html", "assets/site.css", "assets/katex.css", "assets/figure.js", "assets/picture.js", "assets/place.js", "assets/palette.css", "assets/licences.txt"]) assert.ok(named.includes(name), name);
    assert.equal(named.filter((name) => name.endsWith("echarts.min.js")).length, 1);
    assert.doesNotMatch(readFileSync(join(out, "assets", "katex.css"), "utf8"), /url\((?!data:font\/woff2;base64,)/);
    for (const name of ["Apache License", "ZRender", "KaTeX", "SIL OPEN FONT LICENSE", "The Go Authors", "Khan Academy"]) assert.match(readFileSync(join(out, "assets", "licences.txt"), "utf8"), new RegExp(name));
  });

  test("every element of every page is closed, and where it was opened", () => {
    for (const file of files(join(folder, "whole")).filter((name) => name.endsWith(".html"))) assert.equal(unclosed(readFileSync(file, "utf8")), undefined, file);
    assert.equal(unclosed("<ol><li>a</li><li>b<ol><li>c</li></li></ol>"), "li ends where ol is open");
    assert.equal(unclosed("<ul><li>a</li>"), "ul is not closed");
  });

  test("a folder with something in it is left alone", () => {
    assert.throws(() => build(folder), /is not empty/);
  });

  test("the command says what is wrong in one line", () => {
    const run = (...args) => spawnSync(process.execPath, [fileURLToPath(new URL("build.mjs", import.meta.url)), ...args], { encoding: "utf8" });
    assert.equal(run().status, 2);
    const bad = run(folder);
    assert.equal(bad.status, 1);
    assert.match(bad.stderr, /^.* is not empty\n$/);
    const good = execFileSync(process.execPath, [fileURLToPath(new URL("build.mjs", import.meta.url)), join(folder, "by command")], { encoding: "utf8" });
    assert.match(good, /^\d+ pages\n$/);
  });
});
