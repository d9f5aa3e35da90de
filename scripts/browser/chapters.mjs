// The chapters as they are committed: their cells, and what is in them.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** Names of the chapters to test, without .ipynb. */
export const chapters = (process.env.MEMORYWALL_BROWSER_CHAPTERS?.split(" ") ?? allChapters());

export function allChapters() {
  return readdirSync(join(ROOT, "notebooks"))
    .filter((name) => /^\d\d_.*\.ipynb$/.test(name)) // the glossary is no chapter
    .map((name) => name.slice(0, -".ipynb".length))
    .sort();
}

/** The committed cells of a chapter. */
export function cellsOf(chapter) {
  return JSON.parse(readFileSync(join(ROOT, "notebooks", `${chapter}.ipynb`), "utf8")).cells.map((cell) => ({
    id: cell.id,
    type: cell.cell_type,
    tags: cell.metadata.tags ?? [],
    source: [cell.source].flat().join(""),
    outputs: cell.outputs ?? [],
  }));
}

/** The HTML of an output; empty if it has none. */
export function htmlOf(output) {
  return [output.data?.["text/html"] ?? ""].flat().join("");
}

/** Ids of the figures in a cell's outputs. */
export function figuresIn(outputs) {
  return outputs
    .map(htmlOf)
    .flatMap((html) => [...html.matchAll(/<div class="memorywall-figure" id="([^"]+)"/g)].map((match) => match[1]));
}

/** The constant that a line of Go defines, in its parts; undefined if none. */
export function constant(line) {
  const match = /^((?:const)?\s*(\w+)(?:\s+\w+)?\s*=\s*)([^\s/]+)(.*)$/.exec(line);
  return match ? { before: match[1], name: match[2], value: match[3], after: match[4] } : undefined;
}
