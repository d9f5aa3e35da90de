// Builds the pages of the lesson from its notebooks, into an empty folder:
//
//	node build.mjs OUT
//
// The same notebooks give the same bytes. ./scripts/site calls this; it sees to
// the packages, and puts the folder where the reader wants it.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { arrange, relink } from "./arrange.mjs";
import { BadNotebook, notebooks } from "./notebook.mjs";
import { body, document, run } from "./page.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const SCRIPTS = join(HERE, "..");
const NOTEBOOKS = join(SCRIPTS, "..", "notebooks");
const CHARTS = join(SCRIPTS, "charts");
const EXPLORER = join(SCRIPTS, "explorer");

/** Does it, and says of which notebook a mistake is. */
function naming(notebook, action) {
  try {
    return action();
  } catch (error) {
    if (error instanceof BadNotebook || error.name === "ParseError") throw new BadNotebook(`${notebook.name}.ipynb: ${error.message}`);
    throw error;
  }
}

/** Stores pictures under their names; two that differ never share one. */
function album(folder) {
  mkdirSync(folder, { recursive: true });
  const stored = new Map();
  return (wanted) => (name, svg) => {
    const base = name ?? wanted;
    let file = base;
    for (let n = 2; stored.has(file) && !stored.get(file).equals(svg); n++) file = `${base}-${n}`;
    if (!stored.has(file)) writeFileSync(join(folder, `${file}.svg`), svg);
    stored.set(file, svg);
    return `figures/${file}.svg`;
  };
}

/** KaTeX's style sheet with its fonts inside: some browsers load no font from another file: address. */
function katexStyles() {
  const folder = join(HERE, "node_modules", "katex", "dist");
  return readFileSync(join(folder, "katex.min.css"), "utf8").replace(
    /src:url\((fonts\/[\w-]+\.woff2)\) format\("woff2"\)[^;}]*/g,
    (_, font) => `src:url(data:font/woff2;base64,${readFileSync(join(folder, font)).toString("base64")}) format("woff2")`,
  );
}

/** What the pages share. */
function assets(out) {
  const folder = join(out, "assets");
  mkdirSync(folder, { recursive: true });
  for (const name of ["site.css", "site.js", "start.js", "icon.svg"]) cpSync(join(HERE, "assets", name), join(folder, name));
  cpSync(join(SCRIPTS, "..", "pkg", "internal", "svg", "palette.css"), join(folder, "palette.css"));
  writeFileSync(join(folder, "katex.css"), katexStyles());
  for (const name of ["figure.js", "picture.js", "place.js"]) cpSync(join(CHARTS, name), join(folder, name));
  cpSync(join(CHARTS, "node_modules", "echarts", "dist", "echarts.min.js"), join(folder, "echarts.min.js"));
  const packaged = (at, name) => join(at, "node_modules", name, "LICENSE");
  const licences = [
    ["Apache ECharts", packaged(CHARTS, "echarts")], ["ZRender, a part of ECharts", packaged(CHARTS, "zrender")],
    ["KaTeX", packaged(HERE, "katex")], ["The fonts of KaTeX", join(HERE, "assets", "font-licence.txt")], ["Go: wasm_exec.js and the library inside the explorers", join(EXPLORER, "go-licence.txt")],
  ];
  writeFileSync(join(folder, "licences.txt"), licences.map(([what, file]) =>
    `${what}\n${"=".repeat(what.length)}\n\n${readFileSync(file, "utf8").trim()}\n`).join("\n\n"));
}

/** The explorers, where they have been built. */
function explorers(out) {
  if (!existsSync(join(EXPLORER, "built"))) return;
  for (const name of ["explorer.js", "explorer.css", "built"]) cpSync(join(EXPLORER, name), join(out, "explorer", name), { recursive: true });
}

/**
 * Builds the site.
 *
 * @param {string} out an empty folder, or one to be made
 * @param {string} [from] the folder with the notebooks
 * @returns {number} how many pages it has
 */
export function build(out, from = NOTEBOOKS) {
  mkdirSync(out, { recursive: true });
  if (readdirSync(out).length > 0) throw new BadNotebook(`${out} is not empty`);
  const keep = album(join(out, "figures"));
  const pages = notebooks(from).map((notebook) => naming(notebook, () => {
    const page = { ...notebook, ...arrange(body(notebook.cells), keep(`${notebook.name.replaceAll("_", "-")}-picture`)) };
    page.title = page.headings.find((heading) => heading.level === 1)?.text;
    if (!page.title) throw new BadNotebook("it has no heading of the first level");
    page.description = page.$(".question").first().text().replace(/\s+/g, " ").trim() || page.title;
    return page;
  }));
  const byName = new Map(pages.map((page) => [page.name, page]));
  const chapters = pages.filter((page) => page.chapter);
  assets(out);
  explorers(out);
  mkdirSync(join(out, "notebooks"));
  for (const page of pages) naming(page, () => relink(page.$, page.name, byName));
  for (const page of pages) {
    page.$("h1").first().after(run(page));
    page.content = page.$.html();
    const at = chapters.indexOf(page);
    page.previous = at > 0 ? chapters[at - 1] : undefined;
    page.next = at >= 0 ? chapters[at + 1] : undefined;
    cpSync(join(from, `${page.name}.ipynb`), join(out, "notebooks", `${page.name}.ipynb`));
  }
  for (const page of pages) writeFileSync(join(out, page.page), document(page, pages));
  return pages.length;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [out, ...rest] = process.argv.slice(2);
  if (!out || rest.length > 0) {
    console.error("usage: node build.mjs OUT");
    process.exit(2);
  }
  try {
    console.log(`${build(out)} pages`);
  } catch (error) {
    if (!(error instanceof BadNotebook)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}
