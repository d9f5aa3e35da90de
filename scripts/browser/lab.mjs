// What the tests drive: the lesson's server, a real Chromium, and a notebook
// in JupyterLab, driven as a reader drives it. State is read from JupyterLab's
// own objects (the server is started with expose_app_in_browser), so nothing
// here waits for a fixed time.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { constant, figuresIn, ROOT } from "./chapters.mjs";
import { Figure } from "./figure.mjs";
import { LONG, POLL, SHORT, until } from "./wait.mjs";

export const OUT = process.env.MEMORYWALL_BROWSER_OUT || join(ROOT, ".cache", "browser");
mkdirSync(OUT, { recursive: true });

// ------------------------------------------------------------- processes

// Every process that the tests start inherits this mark in its environment, so
// that any of them which is left over can be found.
const MARK = `MEMORYWALL_BROWSER_RUN=${randomUUID()}`;

function marked(extra = {}) {
  const [name, value] = MARK.split("=");
  return { ...process.env, ...extra, [name]: value };
}

/** The processes, started by these tests, that still run: {pid, command}. */
export function leftOver() {
  if (process.platform !== "linux") {
    const lines = execFileSync("ps", ["-axEww", "-o", "pid=,command="], { encoding: "utf8", maxBuffer: 1 << 28 }).split("\n");
    return lines.filter((line) => line.includes(MARK)).map((line) => ({ pid: parseInt(line, 10), command: line.trim().slice(0, 200) }));
  }
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
    try {
      const ours = readFileSync(`/proc/${pid}/environ`, "utf8").includes(MARK);
      const state = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "")[0];
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      return ours && state !== "Z" ? [{ pid: Number(pid), command }] : [];
    } catch {
      return []; // it ended meanwhile
    }
  });
}

/** Ends whatever is left over: asks first, and waits a while. */
export function endAll() {
  for (const signal of ["SIGTERM", "SIGKILL"]) {
    for (const { pid } of leftOver()) {
      try {
        process.kill(pid, signal);
      } catch {
        // It ended meanwhile.
      }
    }
    // Not a timer: the process may be about to exit.
    for (let tenths = 0; tenths < 50 && leftOver().length > 0; tenths++) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
}

// ---------------------------------------------------------------- server

/** JupyterLab, started by ./scripts/lesson on a copy of the chapters that is the tests' own. */
export class Lab {
  /** trusted: as a reader has it; else as in a fresh clone that another JupyterLab opens. */
  static async start({ trusted = true } = {}) {
    const lab = new Lab();
    // Of this process, since the tests may run twice at once.
    lab.copy = `my-lesson-browser-${process.pid}${trusted ? "" : "-untrusted"}`;
    process.once("exit", () => lab.clear());
    lab.log = "";
    lab.process = spawn(
      join(ROOT, "scripts", "lesson"),
      ["--no-browser", "--port", "0", "--LabApp.expose_app_in_browser=True"],
      {
        cwd: ROOT, stdio: ["ignore", "pipe", "pipe"],
        env: marked({ MEMORYWALL_COPY: lab.copy, MEMORYWALL_TRUST: trusted ? "yes" : "no" }),
      },
    );
    const read = (data) => (lab.log += data);
    lab.process.stdout.setEncoding("utf8").on("data", read);
    lab.process.stderr.setEncoding("utf8").on("data", read);
    lab.ended = once(lab.process, "exit");
    let gone = false;
    lab.ended.then(() => (gone = true));
    const address = await until(
      () => `an address from ./scripts/lesson; it said:\n${lab.log}`,
      () => {
        if (gone) throw new Error(`./scripts/lesson ended; it said:\n${lab.log}`);
        return /http:\/\/127\.0\.0\.1:\d+\/\S*\?token=\w+/.exec(lab.log)?.[0];
      },
      15 * 60_000, // the first start makes the whole set-up
    );
    lab.origin = new URL(address).origin;
    lab.token = new URL(address).searchParams.get("token");
    return lab;
  }

  path(chapter) {
    return `${this.copy}/${chapter}.ipynb`;
  }

  /** Of the page with this chapter, or of JupyterLab with nothing open. */
  address(chapter) {
    return `${this.origin}/lab${chapter ? `/tree/${this.path(chapter)}` : ""}?token=${this.token}&reset`;
  }

  /** Puts a notebook of the test's own beside the chapters. */
  write(name, cells) {
    const notebook = {
      cells, nbformat: 4, nbformat_minor: 5,
      metadata: { kernelspec: { display_name: "Go (gonb)", language: "go", name: "gonb" }, language_info: { name: "go" } },
    };
    writeFileSync(join(ROOT, this.copy, `${name}.ipynb`), JSON.stringify(notebook));
  }

  async stop() {
    this.process.kill("SIGTERM");
    const late = setTimeout(() => this.process.kill("SIGKILL"), SHORT);
    const [, signal] = await this.ended;
    clearTimeout(late);
    assert.notEqual(signal, "SIGKILL", "JupyterLab did not stop when it was told to");
  }

  /** Removes what ./scripts/lesson made for this copy. */
  clear() {
    for (const path of [this.copy, join(".cache", `jupyter-${this.copy}`), join(".venv", ".stamps", `trust-${this.copy}`)]) {
      rmSync(join(ROOT, path), { recursive: true, force: true });
    }
  }
}

/** The environment that the lesson's kernel gives to what it starts. */
export function kernelEnv() {
  const { env } = JSON.parse(readFileSync(join(ROOT, ".venv", "share", "jupyter", "kernels", "gonb", "kernel.json"), "utf8"));
  return { ...process.env, ...env, GOWORK: "off", PATH: env.PATH.replace("${PATH}", process.env.PATH) };
}

// --------------------------------------------------------------- browser

const FLAGS = [
  "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
  // Nothing outside answers, wherever the tests run.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
];

/** Chromium, and all that it asked the network for. */
export class Browser {
  static async start() {
    const browser = new Browser();
    browser.folder = mkdtempSync(join(tmpdir(), "memorywall-"));
    process.once("exit", () => rmSync(browser.folder, { recursive: true, force: true }));
    browser.netlog = join(browser.folder, "network.json");
    const args = [...FLAGS, `--log-net-log=${browser.netlog}`];
    if (process.getuid?.() === 0) args.push("--no-sandbox"); // it refuses to run for root otherwise
    browser.chromium = await chromium.launch({
      executablePath: process.env.MEMORYWALL_CHROMIUM, args, headless: !process.env.MEMORYWALL_BROWSER_HEADED,
      env: marked({ XDG_CACHE_HOME: browser.folder, XDG_CONFIG_HOME: browser.folder }), // nothing of its own stays in the reader's
    });
    browser.opened = [];
    return browser;
  }

  /** A new window with nothing in it, as if by a reader who comes for the first time. It waits for so many milliseconds at the most. */
  async open(name, timeout = LONG) {
    const context = await this.chromium.newContext({ viewport: { width: 1280, height: 900 } });
    context.setDefaultTimeout(timeout);
    const window = new Window(context, await context.newPage(), name);
    this.opened.push({ name, at: Date.now() });
    return window;
  }

  async stop() {
    await this.chromium.close();
  }

  /**
   * What Chromium's own log of the network says, after stop(): the requests of
   * pages and workers to other hosts, and how many requests there were. What the
   * browser asks for by itself, such as its updates, has no origin.
   */
  asked() {
    const log = JSON.parse(readFileSync(this.netlog, "utf8"));
    const { logEventTypes, timeTickOffset } = log.constants;
    const outside = new Set();
    let count = 0;
    for (const { type, params, time } of log.events) {
      if (type !== logEventTypes.URL_REQUEST_START_JOB || !params?.url || params.initiator === "not an origin") continue;
      count++;
      if (local(params.url)) continue;
      const at = Number(time) + Number(timeTickOffset);
      outside.add(`${params.url} (${this.opened.findLast((one) => one.at <= at)?.name ?? "before the first page"})`);
    }
    return { count, outside: [...outside] };
  }
}

function local(url) {
  const { protocol, hostname } = new URL(url);
  return ["data:", "blob:", "about:", "file:"].includes(protocol) || ["127.0.0.1", "localhost"].includes(hostname);
}

// ---------------------------------------------------------------- window

/** One browser window with JupyterLab in it, and what it complained about. */
export class Window {
  constructor(context, page, name) {
    Object.assign(this, { context, page, name });
    this.console = []; // all that was logged
    this.complaints = []; // console errors, uncaught exceptions, failed requests, other hosts
    context.on("console", (message) => {
      const line = `${message.type()}: ${message.text()} (${message.location().url})`;
      this.console.push(line);
      if (message.type() === "error" || message.type() === "assert") this.complaints.push(`console ${line}`);
    });
    context.on("weberror", (event) => this.complaints.push(`uncaught ${event.error().stack ?? event.error()}`));
    context.on("request", (request) => {
      if (!local(request.url())) this.complaints.push(`request to another host: ${request.url()}`);
    });
    context.on("page", (other) => other !== page && this.complaints.push(`another page opened: ${other.url()}`));
    page.on("websocket", (socket) => {
      if (!local(socket.url().replace(/^ws/, "http"))) this.complaints.push(`socket to another host: ${socket.url()}`);
    });
    page.on("crash", () => this.complaints.push("the page crashed"));
  }

  /** Opens a notebook by its address and waits until it can be worked with. */
  async open(address) {
    await this.page.goto(address);
    await this.ready();
  }

  async reload() {
    await this.page.reload();
    await this.ready();
  }

  /** Waits until a notebook is in front, with all its cells and, unless told otherwise, a kernel that answers. */
  async ready({ kernel = true } = {}) {
    await this.page.waitForFunction((kernel) => {
      const panel = window.jupyterapp?.shell?.currentWidget;
      return (
        panel?.context?.isReady && panel.content.widgets.every((cell) => cell.isAttached) &&
        (!kernel || panel.sessionContext.session?.kernel?.connectionStatus === "connected")
      );
    }, kernel, POLL);
    await this.page.evaluate((kernel) => {
      const { revealed, sessionContext } = window.jupyterapp.shell.currentWidget;
      return Promise.all([revealed, kernel && sessionContext.ready, kernel && sessionContext.session.kernel.info]);
    }, kernel);
  }

  /** Opens one more notebook, which is only looked at: no kernel is started for it. */
  async read(path) {
    await this.page.waitForFunction(() => window.jupyterapp, undefined, POLL); // it comes a little after the page
    await this.page.evaluate(async (path) => {
      const app = window.jupyterapp;
      await app.restored;
      const panel = await app.commands.execute("docmanager:open", {
        path, factory: "Notebook", kernelPreference: { shouldStart: false, canStart: false },
      });
      await panel.context.ready;
    }, path);
    await this.ready({ kernel: false });
  }

  async menu(...path) {
    await this.page.getByRole("menuitem", { name: path[0], exact: true }).first().click();
    for (const item of path.slice(1)) await this.page.locator(".lm-Menu-item", { hasText: item }).first().click();
  }

  /**
   * Does what starts cells, waits until JupyterLab and the kernel are through
   * with them, and returns [{id, ms}] in the order in which they ran; ms is from
   * busy to idle.
   */
  async running(start, limit = LONG) {
    await this.page.evaluate(() => {
      const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
      const runs = new Map();
      const listen = (_, { msg, direction }) => {
        const type = msg.header.msg_type;
        if (direction === "send" && type === "execute_request") runs.set(msg.header.msg_id, { id: msg.metadata.cellId });
        const run = runs.get(msg.parent_header?.msg_id);
        if (direction !== "recv" || !run) return;
        if (type === "execute_reply") run.replied = true;
        if (type === "status") run[msg.content.execution_state] = performance.now();
      };
      kernel.anyMessage.connect(listen);
      window.memorywallRuns = { runs, end: () => kernel.anyMessage.disconnect(listen) };
    });
    await start();
    await this.page.waitForFunction(
      () => {
        const panel = window.jupyterapp.shell.currentWidget;
        const runs = [...window.memorywallRuns.runs.values()];
        const cells = panel.content.widgets.filter((cell) => cell.model.type === "code");
        return (
          runs.length > 0 && runs.every((run) => run.replied && run.idle) &&
          cells.every((cell) => cell.model.executionState !== "running")
        );
      },
      undefined,
      { ...POLL, timeout: limit },
    );
    return this.page.evaluate(() => {
      window.memorywallRuns.end();
      return [...window.memorywallRuns.runs.values()].map((run) => ({ id: run.id, ms: run.idle - run.busy }));
    });
  }

  /** Run > Run All Cells. */
  runAll(limit) {
    return this.running(() => this.menu("Run", "Run All Cells"), limit);
  }

  /** Brings a cell into view and returns its element. */
  async cell(id) {
    const handle = await this.page.evaluateHandle((id) => {
      const { content } = window.jupyterapp.shell.currentWidget;
      return content.widgets.find((cell) => cell.model.id === id).node;
    }, id);
    const element = handle.asElement();
    await element.scrollIntoViewIfNeeded();
    return element;
  }

  /** Selects a cell and runs it with Ctrl-Enter; returns the milliseconds it took. */
  async run(id) {
    const cell = await this.cell(id);
    const runs = await this.running(async () => {
      await (await cell.$(".jp-InputPrompt")).click();
      await this.page.keyboard.press("Control+Enter");
    });
    assert.deepEqual(runs.map((run) => run.id), [id], "the cell that ran");
    return runs[0].ms;
  }

  /** What the model holds for each code cell, or for the one with this id. */
  cells(id) {
    return this.page.evaluate((id) =>
      window.jupyterapp.shell.currentWidget.content.widgets
        .filter((cell) => cell.model.type === "code" && (!id || cell.model.id === id))
        .map((cell) => ({
          id: cell.model.id,
          tags: cell.model.getMetadata("tags") ?? [],
          source: cell.model.sharedModel.getSource(),
          trusted: cell.model.trusted,
          folded: cell.outputHidden,
          outputs: cell.model.outputs.toJSON(),
          text: cell.outputArea.node.innerText,
        })),
    id);
  }

  async oneCell(id) {
    return (await this.cells(id))[0];
  }

  /** Puts another source into a cell without the keyboard. */
  async put(id, source) {
    await this.page.evaluate(([id, source]) => {
      const { content } = window.jupyterapp.shell.currentWidget;
      content.widgets.find((cell) => cell.model.id === id).model.sharedModel.setSource(source);
    }, [id, source]);
  }

  /** Selects a constant's value in a cell's editor and types another one over it. */
  async type(id, name, value) {
    const lines = (await this.oneCell(id)).source.split("\n");
    const at = lines.findIndex((line) => constant(line)?.name === name);
    assert.ok(at >= 0, `cell ${id} has no constant ${name}`);
    const { before, value: old, after } = constant(lines[at]);
    await this.cell(id);
    // The editor of a cell is made when the cell comes into view.
    await this.page.waitForFunction(([id, line, column, length]) => {
      const { content } = window.jupyterapp.shell.currentWidget;
      const index = content.widgets.findIndex((cell) => cell.model.id === id);
      const { editor, node } = content.widgets[index];
      if (!editor) return false;
      content.activeCellIndex = index;
      content.mode = "edit";
      editor.focus();
      editor.setSelection({ start: { line, column }, end: { line, column: column + length } });
      return node.contains(document.activeElement) && editor.hasFocus();
    }, [id, at, before.length, old.length]);
    await this.page.keyboard.insertText(value);
    lines[at] = before + value + after;
    assert.equal((await this.oneCell(id)).source, lines.join("\n"), "the cell after typing");
    await this.page.keyboard.press("Escape");
  }

  async save() {
    await this.page.keyboard.press("Control+s");
    await this.page.waitForFunction(() => !window.jupyterapp.shell.currentWidget.context.model.dirty, undefined, POLL);
  }

  async closeTab() {
    const id = await this.page.evaluate(() => window.jupyterapp.shell.currentWidget.id);
    await this.page.locator(".lm-TabBar-tab.lm-mod-current .lm-TabBar-tabCloseIcon").last().click();
    await this.page.waitForFunction((id) => window.jupyterapp.shell.currentWidget?.id !== id, id, POLL);
  }

  /** Closes the tab in front, then opens the chapter again from the file browser. */
  async reopen(chapter) {
    await this.closeTab();
    await this.page.locator(".jp-DirListing-item", { hasText: `${chapter}.ipynb` }).dblclick();
    await this.ready();
  }

  async theme(name) {
    await this.menu("Settings", "Theme", name);
    await this.page.waitForFunction((name) => document.body.dataset.jpThemeName === name, name, POLL);
  }

  /** Shows or hides the file browser beside the notebook. */
  async sidebar(shown) {
    await this.page.evaluate((shown) => {
      const { shell } = window.jupyterapp;
      if (shown) shell.expandLeft();
      else shell.collapseLeft();
    }, shown);
  }

  /** Ends the kernels and closes the window. */
  async close() {
    await this.page.evaluate(() => window.jupyterapp?.serviceManager.sessions.shutdownAll()).catch(() => {});
    await this.context.close();
  }

  // Figures

  /** The figures in the outputs that are not folded away. */
  async figures() {
    return (await this.cells())
      .filter((cell) => !cell.folded)
      .flatMap((cell) => figuresIn(cell.outputs).map((id) => new Figure(this, cell.id, id)));
  }

  // What is kept

  async shot(name, element) {
    await element.screenshot({ path: join(OUT, `${this.name}.${name}.png`), animations: "disabled" });
  }

  /** The whole notebook, in as many pictures as it takes. */
  async shots(name = "light") {
    const size = this.page.viewportSize();
    await this.page.setViewportSize({ width: 1280, height: 2000 });
    const pane = this.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-WindowedPanel-outer");
    const scroll = (to) => pane.evaluate((node, to) => {
      node.scrollTop = to;
      return node.scrollTop + node.clientHeight < node.querySelector(".jp-Cell:last-of-type, .jp-WindowedPanel-viewport").offsetHeight;
    }, to);
    for (let i = 0, more = true; more; i++) {
      more = await scroll(i * 1800);
      await this.shot(`${name}.${i + 1}`, pane);
    }
    await scroll(0);
    await this.page.setViewportSize(size);
  }

  /** Keeps what helps to see why a test failed. */
  async keep(what) {
    const file = (end) => join(OUT, `${this.name}.${what.replace(/\W+/g, "-")}.${end}`);
    writeFileSync(file("console.txt"), [...this.console, "", ...this.complaints].join("\n") + "\n");
    await this.page.screenshot({ path: file("png") }).catch(() => {});
    await this.page.content().then((html) => writeFileSync(file("html"), html)).catch(() => {});
  }
}
