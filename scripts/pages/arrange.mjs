// What a page does to the HTML of a notebook: pictures become files, wide
// things scroll in a box of their own, headings get names, links lead to pages.

import { load } from "cheerio";
import { slug } from "./markdown.mjs";
import { BadNotebook } from "./notebook.mjs";

// ------------------------------------------------------------------- outputs

const SVG = /^data:image\/svg\+xml;base64,([A-Za-z0-9+/=]+)$/;

/** Each picture that came inside of the text becomes a file, as keep(name, svg) calls it. */
function pictures($, keep) {
  for (const image of $("img, source").toArray()) {
    const address = image.tagName === "img" ? "src" : "srcset";
    const found = SVG.exec($(image).attr(address) ?? "");
    if (!found) continue;
    $(image).attr(address, keep($(image).closest(".memorywall-figure").attr("id"), Buffer.from(found[1], "base64")));
    if (address === "src") $(image).attr("decoding", "async");
  }
}

/**
 * The page draws a figure when it is near, so the script in it that would draw
 * it at once is taken out.
 */
function figures($) {
  $(".memorywall-figure script:not([type])").remove();
  for (const output of $(".memorywall-figure").closest(".html")) output.tagName = "figure";
}

function tables($) {
  for (const box of $("div[style*='overflow-x']").toArray()) {
    const style = $(box).attr("style");
    if (!/overflow-x:\s*auto/.test(style)) continue;
    $(box).addClass("scroll").attr("style", style.replace(/overflow-x:\s*auto;?\s*/, "") || null);
  }
  // Markdown does not say what the heads of its tables head; pkg/lesson does.
  for (const cell of $("th:not([scope])").toArray()) {
    if ($(cell).text().trim() === "") cell.tagName = "td"; // it heads nothing
    else if ($(cell).closest("thead").length > 0) $(cell).attr("scope", "col");
  }
  $("table:has(thead)").addClass("grid").not(".scroll table").wrap('<div class="scroll"></div>');
}

function folds($) {
  $(".html details:not([class])").addClass("numbers");
  $("details:not([class])").addClass("answer");
}

// ------------------------------------------------------- headings and links

/** The first element of each cell, by the cell's name; takes out what marked them. */
function cells($) {
  const marks = $("[data-cell]");
  const found = new Map(marks.toArray().map((mark) => [$(mark).attr("data-cell"), $(mark).next()]));
  marks.remove();
  return found;
}

/** Names each heading, and returns [{level, id, text}] of all. */
function headings($) {
  const taken = new Set($("[id]").toArray().map((node) => $(node).attr("id")));
  return $("h1, h2, h3, h4, h5, h6").toArray().map((heading) => {
    const words = $(heading).text().trim();
    let id = $(heading).attr("id");
    if (id === undefined) {
      const name = slug(words) || "part";
      id = name;
      for (let n = 2; taken.has(id); n++) id = `${name}-${n}`;
      taken.add(id);
      $(heading).attr("id", id);
    }
    return { level: Number(heading.tagName.slice(1)), id, text: words };
  });
}

/**
 * Arranges the HTML of one notebook.
 *
 * @param {string} html of all its cells
 * @param {(name: string|undefined, svg: Buffer) => string} keep stores a picture and returns its address
 * @returns {{$: object, headings: {level: number, id: string, text: string}[], ids: Set<string>, cells: Map<string, object>}}
 *   $ is the document as Cheerio holds it
 */
export function arrange(html, keep) {
  const $ = load(html, null, false);
  const firsts = cells($);
  pictures($, keep);
  figures($);
  tables($);
  folds($);
  const heads = headings($);
  const ids = new Set();
  for (const node of $("[id]").toArray()) {
    const id = $(node).attr("id");
    if (ids.has(id)) throw new BadNotebook(`the id ${id} is there twice`);
    ids.add(id);
  }
  return { $, headings: heads, ids, cells: firsts };
}

/**
 * Lets links to notebooks lead to their pages. An anchor may be written as
 * JupyterLab names a heading (Ridge-point) or a cell (cell-id=ridge), or as the
 * page names its heading (ridge-point).
 *
 * @param {object} $ as arrange returned it
 * @param {string} from the name of the notebook that it is of
 * @param {Map<string, {page: string, ids: Set<string>, cells: Map<string, object>}>} pages by the name of their notebook
 */
export function relink($, from, pages) {
  for (const link of $("a[href]").toArray()) {
    const href = $(link).attr("href");
    if (/^[a-z][a-z0-9+.-]*:/i.test(href)) continue;
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
    $(link).attr("href", to);
  }
}

/** The id of a cell's first element; it gets one where it has none. */
function idOf(first, cell) {
  if (first && first.attr("id") === undefined) first.attr("id", `cell-${slug(cell)}`);
  return first?.attr("id");
}
