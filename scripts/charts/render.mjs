// The static pictures of the figures: the same option object that the page
// draws, drawn to SVG without a browser.
//
//	node render.mjs --width 760 --height 420 --id NAME <option.json >picture.svg
//	node render.mjs --socket PATH [--parent PID]
//
// The second form stays and answers HTTP on a Unix socket:
//
//	POST /svg?width=W&height=H&id=NAME   body: option, answer: image/svg+xml
//	GET  /                               answer: 200, "ready"
//
// The same option gives the same bytes, however often and in whatever order.
// The server is for one user: the socket has mode 0600. It ends with the
// process PID, and ignores the interrupts that are meant for a running cell.

import { createRequire } from "node:module";
import { createServer } from "node:http";
import { chmodSync, realpathSync, rmSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const require = createRequire(import.meta.url);

const MAX_SIDE = 4000; // pixels
const MAX_BODY = 32 << 20; // bytes

let loaded;
function load() {
  loaded ??= {
    echarts: require("./node_modules/echarts/dist/echarts.min.js"),
    figure: require("./figure.js"),
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
 * @param {object} option as pkg/lesson writes it, with names for functions and colours
 * @param {{width: number|string, height: number|string, id?: string}} frame
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
  const { echarts, figure } = load();
  return figure.svg(echarts, option, { width, height, id, theme: "light" });
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch (e) {
    throw new BadRequest(`the option is not JSON: ${e.message}`);
  }
}

async function body(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY) throw new BadRequest(`the option has more than ${MAX_BODY} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function answer(request, response) {
  const reply = (status, type, text) => {
    response.writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(text) });
    response.end(text);
  };
  try {
    const url = new URL(request.url, "http://render");
    if (request.method === "GET" && url.pathname === "/") return reply(200, "text/plain", "ready\n");
    if (url.pathname !== "/svg") return reply(404, "text/plain", "ask POST /svg?width=W&height=H&id=NAME\n");
    if (request.method !== "POST") return reply(405, "text/plain", "ask with POST\n");
    const query = Object.fromEntries(url.searchParams);
    reply(200, "image/svg+xml", render(parse(await body(request)), query));
  } catch (e) {
    reply(e instanceof BadRequest ? 400 : 500, "text/plain", `${e.message}\n`);
  }
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (e) {
    return e.code === "EPERM";
  }
}

/** Answers on a Unix socket until the parent is gone or a signal ends it. */
export function serve(socket, parent) {
  load(); // first, so that whoever finds the socket need not wait for it
  const server = createServer(answer);
  let ours;
  // Which file lies there: a new one may have the number of an old one.
  const there = () => {
    try {
      const file = statSync(socket, { bigint: true });
      return file.isSocket() ? `${file.dev} ${file.ino} ${file.birthtimeNs}` : "";
    } catch {
      return ""; // it is gone already
    }
  };
  const clear = () => {
    // Another process may have put its own socket there since.
    if (ours && there() === ours) rmSync(socket, { force: true });
  };
  const end = () => {
    clear();
    process.exit(0);
  };
  process.on("SIGINT", () => {});
  process.on("SIGTERM", end);
  process.on("SIGHUP", end);
  server.on("error", (e) => {
    console.error(`render: ${socket}: ${e.message}`);
    process.exit(1);
  });
  const mask = process.umask(0o177);
  server.listen(socket, () => {
    process.umask(mask);
    ours = there();
    if (ours) chmodSync(socket, 0o600);
  });
  if (parent) {
    const born = process.ppid;
    const watch = setInterval(() => {
      if (!alive(parent) || (born === parent && process.ppid !== parent)) end();
    }, 500);
    watch.unref();
    server.on("close", () => clearInterval(watch));
  }
  return server;
}

async function main() {
  const { values } = parseArgs({
    options: {
      socket: { type: "string" },
      parent: { type: "string" },
      width: { type: "string", default: "760" },
      height: { type: "string", default: "420" },
      id: { type: "string" },
    },
  });
  if (values.socket !== undefined) {
    const parent = values.parent === undefined ? 0 : Number(values.parent);
    if (!Number.isInteger(parent) || parent < 0) throw new BadRequest(`--parent is ${values.parent}: it must be a process id`);
    serve(values.socket, parent);
    return;
  }
  process.stdout.write(render(parse(await body(process.stdin)), values));
}

if (process.argv[1] && realpathSync(process.argv[1]) === realpathSync(fileURLToPath(import.meta.url))) {
  main().catch((e) => {
    console.error(`render: ${e.message}`);
    process.exitCode = e instanceof BadRequest || e.code?.startsWith("ERR_PARSE_ARGS") ? 2 : 1;
  });
}
