// A chapter as it is stored: a notebook's cells, with what a page needs of them.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** A mistake in a notebook that the reader of this message can mend. */
export class BadNotebook extends Error {}

/** Notebooks keep a text as one string or as a list of lines. */
export function joined(text) {
  return Array.isArray(text) ? text.join("") : (text ?? "");
}

/**
 * The notebooks of a folder in the order of the site: the index, the chapters
 * by number, then all others by name.
 *
 * @returns {{name: string, page: string, chapter: boolean, cells: object[]}[]}
 *   name is the file's without .ipynb, page the file of its page, and chapter
 *   whether it is one of the numbered ones that are read in order
 */
export function notebooks(folder) {
  const names = readdirSync(folder).filter((file) => file.endsWith(".ipynb")).map((file) => file.slice(0, -".ipynb".length)).sort();
  if (names.length === 0) throw new BadNotebook(`${folder} has no notebook`);
  return names.map((name) => ({
    name,
    page: `${/^0+_/.test(name) ? "index" : name}.html`,
    chapter: /^\d+_/.test(name),
    cells: cells(join(folder, `${name}.ipynb`)),
  }));
}

/** The cells of a notebook: {type, id, source, tags, folded, outputsFolded, outputs}. */
function cells(path) {
  let notebook;
  try {
    notebook = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new BadNotebook(`${path} is not a notebook: ${error.message}`);
  }
  if (notebook.nbformat !== 4) throw new BadNotebook(`${path} has format ${notebook.nbformat}: it must be 4`);
  return notebook.cells.map((cell) => ({
    type: cell.cell_type,
    id: cell.id,
    source: joined(cell.source),
    tags: cell.metadata?.tags ?? [],
    folded: cell.metadata?.jupyter?.source_hidden === true,
    outputsFolded: cell.metadata?.jupyter?.outputs_hidden === true,
    outputs: cell.outputs ?? [],
  }));
}
