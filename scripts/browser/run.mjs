// The command scripts/browser/run: reads the options, then runs the tests.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { allChapters, ROOT } from "./chapters.mjs";

const here = join(ROOT, "scripts", "browser");

const HELP = `usage: scripts/browser/run [options] [chapter ...]

Opens the chapters in JupyterLab, started by ./scripts/lesson on a copy of its
own, in a real Chromium, and tests what a reader does: run everything, look at
the figures, point at them, change a parameter, get one wrong, close, reload.

Then it tests the explorers, in JupyterLab and on a page from the disk.

  chapter            a number (5, 05), a name (05_tile_size) or a path; default: all,
                     and the explorers
  --chapters         all chapters, without the explorers
  --explorers        the explorers alone
  --screenshots DIR  keep pictures of all chapters and figures, light and dark, in DIR
  --headed           show the browser
  --help             show this

When a test fails, the page's picture, HTML and console are kept in
.cache/browser/ (or in DIR). MEMORYWALL_CHROMIUM names a Chromium to use.
The last lines say how many tests passed and failed.
`;

function fail(message) {
  console.error(`scripts/browser/run: ${message}`);
  process.exit(2);
}

let options;
try {
  options = parseArgs({
    allowPositionals: true,
    options: { chapters: { type: "boolean" }, explorers: { type: "boolean" }, screenshots: { type: "string" }, headed: { type: "boolean" }, help: { type: "boolean", short: "h" } },
  });
} catch (error) {
  fail(error.message);
}
const { values, positionals } = options;
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}

if (values.explorers && (values.chapters || positionals.length > 0)) fail("--explorers stands alone, without chapters");

const all = allChapters();
const chosen = positionals.map((wanted) => {
  const name = wanted.replace(/^.*\//, "").replace(/\.ipynb$/, "");
  const found = all.find((chapter) => chapter === name || chapter.startsWith(`${name.padStart(2, "0")}_`));
  return found ?? fail(`there is no chapter ${wanted}; the chapters are ${all.join(", ")}`);
});
const chapters = chosen.length > 0 ? [...new Set(chosen)].sort() : all;
if (chapters.length === 0) fail("there is no chapter in notebooks/");

if (!existsSync(join(here, "node_modules", "playwright-core"))) {
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: here, stdio: "inherit" });
}

const { findChromium } = await import("./lab.mjs");
try {
  findChromium();
} catch (error) {
  fail(error.message);
}

const files = values.explorers ? ["explorer"] : values.chapters || chosen.length > 0 ? ["lesson"] : ["lesson", "explorer"];
let tests, ended;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => { ended = true; tests.kill(signal); });
let code = 0;
for (const file of files) {
  // A folder for each: the chapters and the explorers may be tested side by side.
  const out = values.screenshots ? resolve(values.screenshots) : join(ROOT, ".cache", "browser", file);
  if (!values.screenshots) rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  tests = spawn(process.execPath, ["--test-reporter=spec", join(here, `${file}.test.mjs`)], {
    cwd: here,
    stdio: ["ignore", "inherit", "inherit"],
    env: {
      ...process.env,
      MEMORYWALL_BROWSER_CHAPTERS: chapters.join(" "),
      MEMORYWALL_BROWSER_OUT: out,
      MEMORYWALL_BROWSER_SHOTS: values.screenshots ? "yes" : "",
      MEMORYWALL_BROWSER_HEADED: values.headed ? "yes" : "",
    },
  });
  const [status, signal] = await once(tests, "exit");
  code = Math.max(code, signal ? 1 : status);
  if (ended) break;
}
process.exit(code);
