// The static pictures of the figures: the same option object that the page
// draws, drawn to SVG without a browser. Colours are variables of palette.css.
//
//	node render.mjs --folder FOLDER [--parent PID]
//
// It waits for files NAME.json in a folder, each {id, width, height, option}, takes
// the file away and leaves NAME.svg, which is empty where the option cannot be
// drawn. The same option gives the same bytes, however often and in whatever
// order. It ends with the process PID, and ignores the interrupts that are meant
// for a running cell.

import { createRequire } from "node:module";
import { readdirSync, readFileSync, realpathSync, renameSync, unlinkSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const require = createRequire(import.meta.url);

const MAX_SIDE = 4000; // pixels

let loaded;
function load() {
  loaded ??= {
    echarts: require("./node_modules/echarts/dist/echarts.min.js"),
    picture: require("./picture.js"),
  };
  return loaded;
}

/** A mistake in what was asked for, as against one in here. */
export class BadRequest extends Error {}

function side(name, value) {
  const n = Number(value);
  if (!Number.isInteger(n) || n < 1 || n > MAX_SIDE) {
    throw new BadRequest(`${name} is ${value}: it must be a whole number from 1 to ${MAX_SIDE}`);
  }
  return n;
}

/**
 * Draws an option.
 *
 * @param {object} option as pkg/lesson writes it
 * @param {{width: number, height: number, id?: string}} frame
 *   pixels, and the prefix of the ids inside the picture
 * @returns {string} SVG
 */
export function render(option, frame) {
  const width = side("width", frame.width);
  const height = side("height", frame.height);
  const id = frame.id ?? "figure";
  if (!/^[A-Za-z][A-Za-z0-9_-]*$/.test(id)) {
    throw new BadRequest(`id is ${JSON.stringify(id)}: it must be a letter, then letters, digits, "-" or "_"`);
  }
  if (option === null || typeof option !== "object" || Array.isArray(option)) {
    throw new BadRequest("the option must be an object");
  }
  const { echarts, picture } = load();
  return picture.svg(echarts, option, { width, height, id });
}

/** Draws what lies in a folder, and what will come to lie there, until the parent is gone or a signal ends it. */
export function serve(folder, parent) {
  load(); // first, so that whoever waits need not wait for it
  const look = () => {
    for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
      const from = join(folder, file), to = from.replace(/json$/, "svg");
      let svg = "";
      try {
        const text = readFileSync(from, "utf8");
        unlinkSync(from);
        const { option, ...frame } = JSON.parse(text);
        svg = render(option, frame);
      } catch (e) {
        if (e.code === "ENOENT") continue; // whoever asked did not wait
        console.error(`render: ${file}: ${e.message}`);
      }
      writeFileSync(`${to}.new`, svg, { mode: 0o600 });
      renameSync(`${to}.new`, to);
    }
  };
  const end = () => process.exit(0);
  process.on("SIGINT", () => {});
  process.on("SIGTERM", end);
  process.on("SIGHUP", end);
  const born = process.ppid;
  const pace = () => {
    try {
      if (parent) process.kill(parent, 0);
      if (parent === born && process.ppid !== born) end();
      look(); // a watcher may miss a file
    } catch (e) {
      if (e.code !== "EPERM") end(); // the parent or the folder is gone
    }
  };
  watch(folder, look);
  look();
  setInterval(pace, 500);
}

if (process.argv[1] && realpathSync(process.argv[1]) === realpathSync(fileURLToPath(import.meta.url))) {
  try {
    const { folder, parent } = parseArgs({ options: { folder: { type: "string" }, parent: { type: "string", default: "0" } } }).values;
    if (!folder) throw new BadRequest("--folder is missing: it must be the folder to watch");
    if (!/^\d+$/.test(parent)) throw new BadRequest(`--parent is ${parent}: it must be a process id`);
    serve(folder, Number(parent));
  } catch (e) {
    console.error(`render: ${e.message}`);
    process.exitCode = e instanceof BadRequest || e.code?.startsWith("ERR_PARSE_ARGS") ? 2 : 1;
  }
}
