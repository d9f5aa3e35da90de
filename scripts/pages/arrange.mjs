// What a page does to the HTML of a notebook: pictures become files, wide
// things scroll in a box of their own, headings get names, links lead to pages.

import { parseFragment, serialize } from "parse5";
import { slug } from "./markdown.mjs";
import { BadNotebook } from "./notebook.mjs";

// ------------------------------------------------------------------- a tree

export function attribute(node, name) {
  return node.attrs?.find((one) => one.name === name)?.value;
}

function set(node, name, value) {
  const there = node.attrs.find((one) => one.name === name);
  if (value === undefined) node.attrs = node.attrs.filter((one) => one !== there);
  else if (there) there.value = value;
  else node.attrs.push({ name, value });
}

function has(node, name) {
  return (attribute(node, "class") ?? "").split(/\s+/).includes(name);
}

function addClass(node, name) {
  if (!has(node, name)) set(node, "class", [attribute(node, "class"), name].filter(Boolean).join(" "));
}

/** All elements below a node, in the order of the text. */
export function* elements(node) {
  for (const child of [...(node.childNodes ?? [])]) {
    if (child.tagName) yield child;
    yield* elements(child);
  }
}

function find(node, test) {
  for (const element of elements(node)) if (test(element)) return element;
  return undefined;
}

function ancestor(node, test) {
  for (let up = node.parentNode; up; up = up.parentNode) if (up.tagName && test(up)) return up;
  return undefined;
}

export function text(node) {
  return node.nodeName === "#text" ? node.value : (node.childNodes ?? []).map(text).join("");
}

function remove(node) {
  node.parentNode.childNodes = node.parentNode.childNodes.filter((one) => one !== node);
}

function replace(node, ...others) {
  const list = node.parentNode.childNodes;
  list.splice(list.indexOf(node), 1, ...others);
  for (const other of others) other.parentNode = node.parentNode;
}

function make(html) {
  const [node] = parseFragment(html).childNodes;
  return node;
}

/** Puts a node into a box of its own. */
function wrap(node, html) {
  const box = make(html);
  replace(node, box);
  box.childNodes = [node];
  node.parentNode = box;
}

// ------------------------------------------------------------------- outputs

const SVG = /^data:image\/svg\+xml;base64,([A-Za-z0-9+/=]+)$/;

/** Each picture that came inside of the text becomes a file, as keep(name, svg) calls it. */
function pictures(root, keep) {
  for (const image of elements(root)) {
    const address = { img: "src", source: "srcset" }[image.tagName];
    const found = address && SVG.exec(attribute(image, address) ?? "");
    if (!found) continue;
    const figure = ancestor(image, (node) => has(node, "memorywall-figure"));
    set(image, address, keep(figure && attribute(figure, "id"), Buffer.from(found[1], "base64")));
    if (address === "src") set(image, "decoding", "async");
  }
}

/**
 * The page draws a figure when it is near, so the script in it that would draw
 * it at once is taken out.
 */
function figures(root) {
  for (const figure of elements(root)) {
    if (!has(figure, "memorywall-figure")) continue;
    for (const part of elements(figure)) {
      if (part.tagName === "script" && attribute(part, "type") === undefined) remove(part);
    }
    const output = ancestor(figure, (node) => has(node, "html"));
    if (output) output.tagName = output.nodeName = "figure";
  }
}

function tables(root) {
  for (const box of elements(root)) {
    const style = attribute(box, "style") ?? "";
    if (box.tagName !== "div" || !/overflow-x:\s*auto/.test(style)) continue;
    addClass(box, "scroll");
    set(box, "style", style.replace(/overflow-x:\s*auto;?\s*/, "") || undefined);
  }
  // Markdown does not say what the heads of its tables head; pkg/lesson does.
  for (const cell of elements(root)) {
    if (cell.tagName !== "th" || attribute(cell, "scope") !== undefined) continue;
    if (text(cell).trim() === "") cell.tagName = cell.nodeName = "td"; // it heads nothing
    else if (ancestor(cell, (node) => node.tagName === "thead")) set(cell, "scope", "col");
  }
  for (const table of elements(root)) {
    if (table.tagName !== "table" || !find(table, (node) => node.tagName === "thead")) continue;
    addClass(table, "grid");
    if (!ancestor(table, (node) => has(node, "scroll"))) wrap(table, '<div class="scroll"></div>');
  }
}

function folds(root) {
  for (const fold of elements(root)) {
    if (fold.tagName !== "details" || attribute(fold, "class") !== undefined) continue;
    addClass(fold, ancestor(fold, (node) => has(node, "html")) ? "numbers" : "answer");
  }
}

// ------------------------------------------------------- headings and links

/** The first element of each cell, by the cell's name; takes out what marked them. */
function cells(root) {
  const found = new Map();
  for (const mark of elements(root)) {
    const name = attribute(mark, "data-cell");
    if (name === undefined) continue;
    const list = mark.parentNode.childNodes;
    const first = list.slice(list.indexOf(mark) + 1).find((node) => node.tagName);
    if (first) found.set(name, first);
    remove(mark);
  }
  return found;
}

/** Names each heading, and returns [{level, id, text, html}] of all. */
function headings(root) {
  const taken = new Set([...elements(root)].map((node) => attribute(node, "id")).filter(Boolean));
  const found = [];
  for (const heading of elements(root)) {
    const level = Number(/^h([1-6])$/.exec(heading.tagName)?.[1]);
    if (!level) continue;
    const words = text(heading).trim();
    let id = attribute(heading, "id");
    if (id === undefined) {
      const name = slug(words) || "part";
      id = name;
      for (let n = 2; taken.has(id); n++) id = `${name}-${n}`;
      taken.add(id);
      set(heading, "id", id);
    }
    found.push({ level, id, text: words });
  }
  return found;
}

/**
 * Arranges the HTML of one notebook.
 *
 * @param {string} html of all its cells
 * @param {(name: string|undefined, svg: Buffer) => string} keep stores a picture and returns its address
 * @returns {{tree: object, headings: {level: number, id: string, text: string}[], ids: Set<string>, cells: Map<string, object>}}
 */
export function arrange(html, keep) {
  const tree = parseFragment(html);
  const firsts = cells(tree);
  pictures(tree, keep);
  figures(tree);
  tables(tree);
  folds(tree);
  const heads = headings(tree);
  const ids = new Set();
  for (const node of elements(tree)) {
    const id = attribute(node, "id");
    if (id === undefined) continue;
    if (ids.has(id)) throw new BadNotebook(`the id ${id} is there twice`);
    ids.add(id);
  }
  return { tree, headings: heads, ids, cells: firsts };
}

/**
 * Lets links to notebooks lead to their pages. An anchor may be written as
 * JupyterLab names a heading (Ridge-point) or a cell (cell-id=ridge), or as the
 * page names its heading (ridge-point).
 *
 * @param {object} tree as arrange returned it
 * @param {string} from the name of the notebook that it is of
 * @param {Map<string, {page: string, ids: Set<string>, cells: Map<string, object>}>} pages by the name of their notebook
 */
export function relink(tree, from, pages) {
  for (const link of elements(tree)) {
    const href = link.tagName === "a" ? attribute(link, "href") : undefined;
    if (href === undefined || /^[a-z][a-z0-9+.-]*:/i.test(href)) continue;
    const [, path, hash] = /^([^#]*)(?:#(.*))?$/s.exec(href);
    const name = path === "" ? from : /^(?:\.\/)?([^/]+)\.ipynb$/.exec(decodeURI(path))?.[1];
    const target = pages.get(name);
    if (!target) throw new BadNotebook(`the link ${href} leads to nothing that has a page`);
    let to = path === "" ? "" : target.page;
    if (hash) {
      const wanted = decodeURIComponent(hash);
      const cell = /^cell-id=(.+)$/.exec(wanted)?.[1];
      const id = cell ? idOf(target.cells.get(cell), cell) : [wanted, slug(wanted)].find((one) => target.ids.has(one));
      if (!id) throw new BadNotebook(`the link ${href} leads to an anchor that ${target.page} does not have`);
      to += `#${encodeURIComponent(id)}`;
    }
    set(link, "href", to);
  }
}

/** The id of a cell's first element; it gets one where it has none. */
function idOf(node, cell) {
  if (node && attribute(node, "id") === undefined) set(node, "id", `cell-${slug(cell)}`);
  return node && attribute(node, "id");
}

/** Puts HTML behind the page's first heading. */
export function behindTitle(tree, html) {
  const title = find(tree, (node) => node.tagName === "h1");
  replace(title, title, ...parseFragment(html).childNodes);
}

/** The words of the first element of the class, in one line. */
export function wordsOf(tree, name) {
  const found = find(tree, (node) => has(node, name));
  return found ? text(found).replace(/\s+/g, " ").trim() : "";
}

export { serialize };
