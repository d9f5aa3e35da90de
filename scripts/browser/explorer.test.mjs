// The explorers, in JupyterLab and on a page that is opened from the disk: they
// draw, answer to the pointer and to the keyboard, say what is wrong, keep their
// settings, and show what the Go packages give natively.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { allChapters, cellsOf, htmlOf, ROOT } from "./chapters.mjs";
import { Browser, kernelEnv, Lab, OUT } from "./lab.mjs";
import { assertNone, contrast, SHOTS, windowsOf } from "./testing.mjs";
import { until } from "./wait.mjs";

const LIMIT = 300_000;
const FOLDER = join(ROOT, "scripts", "explorer");

/** The outputs of the chapters that hold an explorer: {chapter, name, html}. */
const explorers = allChapters().flatMap((chapter) =>
  cellsOf(chapter).flatMap((cell) =>
    cell.outputs.flatMap((output) => {
      const html = htmlOf(output);
      const name = /<div class="memorywall-explorer" data-explorer="(\w+)"/.exec(html)?.[1];
      return name ? [{ chapter, cell: cell.id, name, html }] : [];
    }),
  ),
);

/** One of each kind, for a page of them all. */
const kinds = explorers.filter(({ name }, i) => explorers.findIndex((other) => other.name === name) === i);

/** A number of each explorer to drag, type and get wrong, and a value that follows from it. */
const TRY = {
  roofline: { key: "m", typed: "1", says: "1", value: "intensity", wrong: "0", error: /^m, rows of A and C, is 0: it must be a whole number from 1 to 1,000,000/ },
  tile: { key: "b", typed: "64", says: "64", value: "loads", wrong: "0.5", error: /^b, tile size, is 0\.5: it must be a whole number from 1 to/ },
  model: { key: "batch", typed: "64", says: "64", value: "all", wrong: "many", error: /^Batch, requests that share a step, is "many": it must be a whole number from 1 to/ },
  decode: { key: "batch", typed: "512", says: "512", value: "all", wrong: "many", error: /^Batch, requests that share a step, is "many": it must be a whole number from 1 to/ },
};

let browser, lab, folder;
const inWindow = windowsOf(() => browser, { limit: LIMIT });

before(async () => {
  lab = await Lab.start(); // which sees to it that the explorers are built
  browser = await Browser.start();
  folder = mkdtempSync(join(tmpdir(), "memorywall-"));
}, { timeout: 20 * 60_000 });

after(async () => {
  for (const one of [browser, lab].filter(Boolean)) await one.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

// ------------------------------------------------------------- a page

/** Writes a page with these explorers, as the committed outputs have them, and returns its address. */
function write(name, outputs, { theme = "", from = FOLDER } = {}) {
  const dark = theme === "dark";
  const colours = theme && `--jp-layout-color0:${dark ? "#111111" : "#ffffff"};--jp-ui-font-color1:${dark ? "#eee" : "#222"};`;
  const body = theme ? ` data-jp-theme-light="${!dark}" style="${colours}background:var(--jp-layout-color0);color:var(--jp-ui-font-color1)"` : "";
  const page = join(folder, `${name}.html`);
  writeFileSync(page, `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Explorers</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head><body${body}>
<script>window.memorywallExplorer = ${JSON.stringify(`${pathToFileURL(from)}/`)}</script>
<main><h1>Explorers</h1><h2 id="tile">Tile</h2>${outputs.map(({ html }) => html).join("\n<hr>\n")}</main></body></html>`);
  return pathToFileURL(page).href;
}

/** One explorer in a window. */
class Explorer {
  constructor(window, root) {
    Object.assign(this, { window, page: window.page, root });
    this.picture = root.locator(".mwx-picture svg");
    this.summary = root.locator(".mwx-summary");
  }

  static in(window, name, nth = 0) {
    return new Explorer(window, window.page.locator(`.memorywall-explorer[data-explorer="${name}"]:visible`).nth(nth));
  }

  async live() {
    await this.root.scrollIntoViewIfNeeded();
    await this.picture.waitFor({ state: "visible", timeout: 30_000 }).catch(async () => {
      const said = this.window.console.filter((line) => line.includes("memorywall"));
      throw new Error([`the explorer did not come alive: ${await this.root.innerText()}`, ...new Set(said)].join("\n"));
    });
  }

  field(key) {
    return this.root.locator(`.mwx-field [id$="-${key}"]`);
  }

  slider(key) {
    return this.root.locator(`.mwx-field:has([id$="-${key}"]) input[type=range]`);
  }

  error(key) {
    return this.root.locator(`[id$="-${key}-error"]`).textContent();
  }

  value(key) {
    return this.root.locator(`tr[data-key="${key}"] td`).textContent();
  }

  settings() {
    return this.root.evaluate((host) => host.memorywallState.settings);
  }

  /** What there is to see, once all that was asked for is drawn. */
  async look() {
    await this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    return this.root.evaluate((host) => {
      const svg = host.querySelector(".mwx-picture svg");
      const colour = (selector) => getComputedStyle(host.querySelector(selector)).color;
      return {
        query: host.memorywallState.view.query,
        picture: svg.outerHTML,
        label: svg.getAttribute("aria-label"),
        values: host.querySelectorAll(".mwx-values tr").length,
        still: host.querySelector(".memorywall-still").checkVisibility(),
        old: host.querySelector(".mwx").classList.contains("mwx-old"),
        wide: host.scrollWidth - host.clientWidth,
        page: document.scrollingElement.scrollWidth - innerWidth,
        cut: Math.max(0, ...[...host.querySelectorAll(".mwx *")].filter((e) => e.checkVisibility() && !e.closest("svg, .mwx-status"))
          .map((e) => e.getBoundingClientRect().right - host.getBoundingClientRect().right)),
        paper: getComputedStyle(svg.querySelector("rect")).fill,
        behind: getComputedStyle(host.querySelector(".mwx")).backgroundColor,
        texts: [...svg.querySelectorAll("text")].map((e) => getComputedStyle(e).fill).concat([".mwx-summary", ".mwx-values th", "label"].map(colour)),
        unlabelled: [...host.querySelectorAll(".mwx :is(input, select, button)")]
          .filter((e) => !e.labels?.length && !e.getAttribute("aria-label") && !e.textContent.trim()).map((e) => e.outerHTML.slice(0, 120)),
      };
    });
  }
}

/** Fails unless an explorer looks as it should. */
function assertWell(name, look) {
  assert.ok(look.values >= 10, `${name} shows ${look.values} values`);
  assert.equal(look.still, false, `${name}: the static picture is seen beside the live one`);
  assert.equal(look.old, false, `${name}: what is shown is out of date`);
  assert.ok(look.label.length > 80, `${name} says in words what it shows`);
  assert.ok(look.wide <= 0 && look.cut < 1, `${name} is cut at the right: ${look.wide} and ${look.cut} px`);
  assert.deepEqual(look.unlabelled, [], `${name}: controls without a label`);
  assert.equal(look.paper, look.behind, `${name}: the picture's paper on the page's`);
  const faint = look.texts.filter((colour) => !(contrast(colour, look.paper) >= 4.5));
  assert.deepEqual(faint, [], `${name}: texts that hardly stand out from ${look.paper}`);
}

/** Does what a reader does with one explorer, by pointer and by keyboard. */
async function use(explorer, name) {
  const { key, typed, says, value, wrong, error } = TRY[name];
  const start = { settings: await explorer.settings(), value: await explorer.value(value), look: await explorer.look() };

  // Drag.
  const slider = explorer.slider(key);
  await slider.scrollIntoViewIfNeeded();
  const box = await slider.boundingBox();
  const at = (share) => [box.x + share * box.width, box.y + box.height / 2];
  await explorer.page.mouse.move(...at(0.5));
  await explorer.page.mouse.down();
  for (const share of [0.45, 0.4, 0.35, 0.3, 0.25]) await explorer.page.mouse.move(...at(share));
  await explorer.page.mouse.up();
  const dragged = await explorer.look();
  assert.notEqual(dragged.query, start.look.query, `${name}: dragging changes ${key}`);
  assert.notEqual(dragged.picture, start.look.picture, `${name}: dragging changes the picture`);
  assert.equal(await explorer.field(key).inputValue(), (await explorer.settings())[key], `${name}: the field follows the slider`);

  // Keyboard alone: from the field to its slider, and along it. Letters, arrows
  // and Enter are no commands of the page.
  await explorer.field(key).focus();
  await explorer.page.keyboard.press("Tab");
  assert.ok(await slider.evaluate((node) => node === document.activeElement), `${name}: Tab leads from the field to the slider`);
  const before = (await explorer.settings())[key];
  await explorer.page.keyboard.press("ArrowRight");
  await explorer.look();
  assert.ok(Number((await explorer.settings())[key]) > Number(before), `${name}: the arrow key moves ${key} on from ${before}`);
  await explorer.page.keyboard.press("Home");
  await explorer.look();
  assert.equal((await explorer.settings())[key], "1", `${name}: Home leads to the least ${key}`);
  for (const letter of ["a", "b", "d", "d", "j", "Enter"]) await explorer.page.keyboard.press(letter);

  // Type.
  await explorer.field(key).fill(typed);
  await explorer.page.keyboard.press("Enter");
  await explorer.look();
  assert.equal((await explorer.settings())[key], says, `${name}: ${key} as it was typed`);

  // Get it wrong, and right again.
  await explorer.field(key).fill(wrong);
  await until(`an error for ${key}`, async () => error.test(await explorer.error(key)));
  assert.equal(await explorer.field(key).getAttribute("aria-invalid"), "true");
  assert.ok((await explorer.field(key).getAttribute("aria-describedby")).endsWith(`${key}-error`));
  assert.equal((await explorer.look()).old, true, `${name}: what was shown before is marked as old`);
  await until("the error read aloud", async () => error.test(await explorer.root.locator("[role=status]").textContent()));
  await explorer.field(key).fill(typed);
  await until("an end of the error", async () => (await explorer.error(key)) === "");
  assert.equal((await explorer.look()).old, false);
  await until("the summary read aloud", async () =>
    (await explorer.root.locator("[role=status]").textContent()) === (await explorer.summary.textContent()));

  // Reset.
  await explorer.root.getByRole("button", { name: "Reset" }).click();
  const end = await explorer.look();
  assert.deepEqual(await explorer.settings(), start.settings, `${name}: Reset leads back`);
  assert.equal(await explorer.value(value), start.value);
  assert.equal(end.picture, start.look.picture);
}

/** The link that the button offers. */
async function linkOf(explorer) {
  await explorer.root.getByRole("button", { name: "Copy link" }).click();
  return until("a link", () => explorer.root.locator(".mwx-link").inputValue());
}

// --------------------------------------------------------------- tests

test("each explorer has its place in a chapter", () => {
  assert.deepEqual(kinds.map(({ name }) => name).sort(), Object.keys(TRY).sort());
});

inWindow("a page from the disk", (step) => {
  step("the explorers start", async (window, t) => {
    await window.page.goto(write("page", kinds));
    for (const { name } of kinds) {
      const explorer = Explorer.in(window, name);
      await explorer.live();
      assertWell(name, await explorer.look());
    }
    const timing = await window.page.evaluate(() => window.memorywall.explorerTiming);
    const script = readFileSync(join(FOLDER, "built", "explorer.wasm.js"));
    const sizes = { wasm: timing.bytes, gzip: Math.round((script.length * 3) / 4), script: script.length };
    const ms = ["load", "unpack", "compile", "run"].map((part) => `${part} ${timing[part].toFixed(0)}`);
    const total = timing.load + timing.unpack + timing.compile + timing.run;
    t.diagnostic(`sizes in bytes: ${JSON.stringify(sizes)}; start ${total.toFixed(0)} ms (${ms.join(", ")})`);
    assert.ok(total < 10_000, `the start took ${total} ms`);
  });

  for (const name of Object.keys(TRY)) {
    step(`${name} answers to the pointer, the keyboard and typing`, (window) => use(Explorer.in(window, name), name));
  }

  step("a drag is answered within a frame (reported)", async (window, t) => {
    for (const [name, { key }] of Object.entries(TRY)) {
      const times = await Explorer.in(window, name).root.evaluate((host, key) => {
        const state = host.memorywallState;
        const most = state.fields[key].control.slider.most;
        const times = [];
        for (let i = 0; i < 400; i++) {
          const start = performance.now();
          state.update({ ...state.fields[key].control.sets, [key]: `@${(i * 37) % (most + 1)}` });
          host.getBoundingClientRect(); // and the layout
          times.push(performance.now() - start);
        }
        return times.slice(50).sort((a, b) => a - b);
      }, key);
      const [median, late] = [0.5, 0.95].map((share) => times[Math.floor(share * times.length)]);
      t.diagnostic(`${name}: an answer takes ${median.toFixed(1)} ms in the middle, ${late.toFixed(1)} ms at the 95th percentile of ${times.length}`);
      assert.ok(median < 200, `${name}: an answer takes ${median} ms`);
      await Explorer.in(window, name).root.getByRole("button", { name: "Reset" }).click();
    }
  });

  step("the buttons walk through the loops", async (window) => {
    const tile = Explorer.in(window, "tile");
    const press = async (name) => {
      await tile.root.getByRole("button", { name, exact: true }).focus();
      await window.page.keyboard.press("Enter");
      await tile.look();
      return (await tile.settings()).step;
    };
    assert.equal(await press("step on"), "2");
    assert.equal(await press("to the next C tile"), "13");
    assert.equal(await press("to the next row of tiles of C"), "145");
    assert.equal(await press("step back"), "144");
    assert.equal(await press("last step"), "1728");
    assert.equal(await press("step on"), "1728");
    assert.equal(await tile.value("loads-so-far"), await tile.value("loads"));
    assert.equal(await press("first step"), "1");
  });

  step("the slider of the tile ends at the side of the matrix, and an arrow key leads to the next tile", async (window) => {
    const tile = Explorer.in(window, "tile");
    await tile.slider("b").focus();
    for (const [key, want] of [["ArrowRight", "343"], ["ArrowLeft", "342"], ["ArrowLeft", "341"], ["End", "4096"]]) {
      await window.page.keyboard.press(key);
      await tile.look();
      assert.equal((await tile.settings()).b, want, key);
    }
    await tile.field("b").fill("5000");
    await window.page.keyboard.press("Enter");
    await tile.look();
    assert.equal((await tile.settings()).b, "5000");
    await tile.root.getByRole("button", { name: "Reset" }).click();
    await tile.look();
  });

  step("presets set the figures, and a figure of one's own leaves them", async (window) => {
    const roofline = Explorer.in(window, "roofline");
    await roofline.field("chip").selectOption({ label: "NVIDIA H100 SXM" });
    await roofline.look();
    assert.equal(await roofline.field("peak").inputValue(), "989T");
    await roofline.field("format").selectOption("FP8");
    await roofline.look();
    assert.equal(await roofline.field("peak").inputValue(), "1.979P");
    assert.equal(await roofline.field("elem").inputValue(), "1");
    await roofline.field("peak").fill("2 PFLOP/s");
    await window.page.keyboard.press("Enter");
    await roofline.look();
    assert.equal(await roofline.field("chip").inputValue(), "custom");
    assert.equal(await roofline.field("bandwidth").inputValue(), "3.35T");
    await roofline.field("traffic").selectOption("tiled");
    await roofline.field("b").fill("64");
    await roofline.look();
    assert.deepEqual(await roofline.settings(), {
      chip: "custom", peak: "2P", bandwidth: "3.35T", elem: "1", m: "4096", n: "4096", k: "4096", traffic: "tiled", b: "64",
    });
  });

  step("a field shows what another control set, though it has the focus", async (window) => {
    const roofline = Explorer.in(window, "roofline");
    await roofline.field("peak").focus();
    await roofline.field("peak").fill("50.0T");
    await roofline.look();
    assert.equal(await roofline.field("peak").inputValue(), "50.0T", "as it is typed");
    await roofline.field("chip").evaluate((select) => { // which leaves the focus where it is
      select.value = [...select.options].find((option) => option.text === "NVIDIA H100 SXM").value;
      select.dispatchEvent(new Event("change", { bubbles: true }));
    });
    await roofline.look();
    assert.ok(await roofline.field("peak").evaluate((node) => node === document.activeElement));
    assert.equal(await roofline.field("peak").inputValue(), "989T");
  });

  step("settings survive a reload, each explorer its own", async (window) => {
    const tile = Explorer.in(window, "tile");
    await tile.field("b").fill("100");
    await tile.look();
    const want = {};
    for (const name of Object.keys(TRY)) want[name] = await Explorer.in(window, name).settings();
    await window.page.reload();
    for (const name of Object.keys(TRY)) {
      await Explorer.in(window, name).live();
      assert.deepEqual(await Explorer.in(window, name).settings(), want[name], name);
    }
  });

  step("a link keeps the settings, and a heading's anchor is none", async (window) => {
    const links = {};
    for (const [name, { key, typed }] of Object.entries(TRY)) {
      const explorer = Explorer.in(window, name);
      await explorer.field(key).fill(typed);
      await window.page.keyboard.press("Enter");
      await explorer.look();
      links[name] = { link: await linkOf(explorer), settings: await explorer.settings() };
    }
    for (const [name, { link, settings }] of Object.entries(links)) {
      const other = await browser.open(`link-${name}`);
      await other.page.goto(link);
      const explorer = Explorer.in(other, name);
      await explorer.live();
      assert.deepEqual(await explorer.settings(), settings, link);
      await until(`${name} in view`, () => explorer.root.evaluate((host) => Math.abs(host.getBoundingClientRect().top) < innerHeight));
      for (const rest of Object.keys(TRY).filter((one) => one !== name)) {
        assert.equal((await Explorer.in(other, rest).look()).query, await Explorer.in(other, rest).root.getAttribute("data-settings"), `${rest} after ${link}`);
      }
      // Another link on the same page, then what the reader changes, then a reload.
      await other.page.evaluate(() => { location.hash = "#tile?n=100&b=7"; });
      await until("the linked tile", async () => (await Explorer.in(other, "tile").settings()).b === "7");
      await Explorer.in(other, "tile").field("b").fill("9");
      await until("the typed tile", async () => (await Explorer.in(other, "tile").settings()).b === "9");
      await other.page.reload();
      await Explorer.in(other, "tile").live();
      assert.equal((await Explorer.in(other, "tile").settings()).b, "9", "what was changed after the link");
      await other.page.evaluate(() => { location.hash = "#tile"; });
      assert.equal((await Explorer.in(other, "tile").settings()).b, "9", "after the anchor of a heading");
      assertNone("what the browser says", other.complaints);
      await other.close();
    }
  });

  step("it logs no error and asks no other host", (window) => assertNone("what the browser says", window.complaints));
});

for (const theme of ["light", "dark"]) {
  for (const width of [360, 1440]) {
    inWindow(`${theme}, ${width} px`, (step) => {
      step("all can be read, and nothing is cut", async (window) => {
        await window.page.setViewportSize({ width, height: 900 });
        await window.page.goto(write(`${theme}-${width}`, kinds, { theme }));
        for (const { name } of kinds) {
          const explorer = Explorer.in(window, name);
          await explorer.live();
          const look = await explorer.look();
          assertWell(name, look);
          assert.ok(look.page <= 0, `${name}: the page scrolls sideways by ${look.page} px`);
          if (SHOTS) await explorer.root.screenshot({ path: join(OUT, `explorer.${name}.${theme}.${width}.png`), animations: "disabled" });
        }
        // The theme changes while the page is open.
        await window.page.evaluate((dark) => {
          document.body.setAttribute("data-jp-theme-light", String(dark));
          document.body.style.setProperty("--jp-layout-color0", dark ? "#ffffff" : "#111111");
        }, theme === "dark");
        for (const { name } of kinds) {
          await until(`${name} in the other theme`, async () => {
            const look = await Explorer.in(window, name).look();
            return look.paper === (theme === "dark" ? "rgb(255, 255, 255)" : "rgb(17, 17, 17)") && look.texts.every((colour) => contrast(colour, look.paper) >= 4.5);
          });
        }
        assertNone("what the browser says", window.complaints);
      });
    });
  }
}

inWindow("what can go wrong", (step) => {
  step("two explorers of one kind keep apart", async (window) => {
    const twice = explorers.filter(({ name }) => name === "tile");
    const address = write("twice", [...twice, ...twice]);
    await window.page.goto(`${address}#tile-2?n=8&b=2&step=3`);
    const [first, second] = [0, 1].map((nth) => Explorer.in(window, "tile", nth));
    await second.live();
    await first.live();
    assert.equal((await second.settings()).n, "8");
    assert.notEqual((await first.settings()).n, "8");
    assert.match(await linkOf(second), /#tile-2\?n=8&b=2&/);
    assert.match(await linkOf(first), /#tile\?n=/);
    assertNone("what the browser says", window.complaints);
  });

  step("a link with settings that cannot be right says so", async (window) => {
    await window.page.goto(`${write("bad", kinds)}#tile?n=0&size=3`);
    const tile = Explorer.in(window, "tile");
    await tile.root.locator(".mwx-fields").waitFor();
    assert.match(await tile.error("n"), /^n, rows and columns of A, B and C, is 0: it must be/);
    assert.match(await tile.root.locator(".mwx-form > .mwx-error").textContent(), /"size" is no setting of the explorer tile/);
    // The page's own settings stand below, greyed, until some are right.
    const instead = tile.root.locator(".mwx-figure > .mwx-error");
    await tile.live();
    const own = await tile.look();
    assert.equal(own.old, true, "the picture is greyed");
    assert.match(await instead.textContent(), /not those of its link: .*"size" is no setting.*; n, rows and columns of A, B and C, is 0: it must be/);
    assert.match(await tile.summary.textContent(), /163\.8 FLOP\/byte/);
    assert.ok(own.values >= 10);
    assert.ok(await instead.evaluate((p) => p.getBoundingClientRect().bottom <= p.parentNode.querySelector("svg").getBoundingClientRect().top));
    // A link to what is wrong is not handed out.
    await tile.root.getByRole("button", { name: "Copy link" }).click();
    await until("the reason why nothing is copied", async () => /^Nothing is copied.* is 0: it must be/.test(await tile.root.locator(".mwx-status").textContent()));
    assert.equal(await tile.root.locator(".mwx-link").isVisible(), false);
    await tile.root.getByRole("button", { name: "Reset" }).click();
    await tile.live();
    const end = await tile.look();
    assertWell("tile", end);
    assert.equal(end.picture, own.picture);
    assert.equal(await instead.textContent(), "");
  });

  step("without the program the picture stays, with a reason", async (window) => {
    const bare = join(folder, "bare");
    mkdirSync(bare, { recursive: true });
    for (const file of ["explorer.js", "explorer.css"]) copyFileSync(join(FOLDER, file), join(bare, file));
    const address = write("without", kinds, { from: bare });
    await window.page.goto(address);
    for (const { name } of kinds) {
      const { root } = Explorer.in(window, name);
      await root.scrollIntoViewIfNeeded();
      await root.locator(".mwx-sorry").waitFor();
      assert.match(await root.locator(".mwx-sorry").textContent(), /did not start.*cannot load built\//);
      assert.ok(await root.locator(".memorywall-still img").isVisible());
    }
  });
});

// -------------------------------------------------------------- parity

/** A generator of random numbers from 0 to 1 (mulberry32), the same in each run. */
function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Settings of all kinds: usual ones, extremes, places of sliders, and what cannot be right. */
function randomSettings(view, next) {
  const pick = (list) => list[Math.floor(next() * list.length)];
  const wild = next() < 0.3;
  const settings = {};
  for (const { key, options, slider } of view.controls) {
    if (next() < 0.35) continue; // its usual value
    if (options) {
      settings[key] = pick([...options.map((option) => option.value), ...(wild ? ["none of these"] : [])]);
      continue;
    }
    const power = 10 ** (next() * 22 - 1);
    const usual = [`@${Math.floor(next() * (slider.most + 1))}`, `${Math.ceil(next() * 16)}`, "1"];
    settings[key] = pick(wild
      ? [...usual, `${Math.ceil(next() * 9999)}`, power.toPrecision(4), `${Math.ceil(power)}`, "0", "1e9", "1e6", "1e18", "1e21", "64Ki", "7B", "312T",
          "-3", "2.5", "NaN", "", "1,000", "x".repeat(50), "é<&>\"'"]
      : usual);
  }
  return settings;
}

inWindow("parity", (step) => {
  step("the page shows what the Go packages give", async (window, t) => {
    await window.page.goto(write("parity", kinds));
    await Explorer.in(window, "tile").live();
    const ask = (requests) =>
      window.page.evaluate((requests) => requests.map(({ name, settings, width }) => window.memorywallDraw(name, JSON.stringify(settings), width)), requests);
    const next = random(20261130);
    const requests = [];
    for (const name of Object.keys(TRY)) {
      const [view] = (await ask([{ name, settings: {}, width: 760 }])).map(JSON.parse);
      for (let i = 0; i < 400; i++) requests.push({ name, settings: randomSettings(view, next), width: 200 + Math.floor(next() * 700) });
    }
    const page = (await ask(requests)).map(JSON.parse);
    const native = execFileSync("go", ["run", "./scripts/explorer", "--json"], {
      cwd: ROOT, encoding: "utf8", maxBuffer: 1 << 28, env: kernelEnv(),
      input: requests.map((request) => JSON.stringify(request)).join("\n"),
    }).trim().split("\n").map(JSON.parse);
    assert.equal(native.length, requests.length);
    const good = {}, pictures = [];
    requests.forEach((request, i) => {
      const { svg: seen, ...rest } = page[i];
      const { svg: wanted, ...want } = native[i];
      assert.deepEqual(rest, want, `${JSON.stringify(request)}`);
      if (rest.errors.length === 0) good[request.name] = (good[request.name] ?? 0) + 1;
      if (seen !== wanted) pictures.push(JSON.stringify(request));
    });
    t.diagnostic(`${requests.length} settings are answered alike; without an error: ${JSON.stringify(good)}`);
    for (const name of Object.keys(TRY)) assert.ok(good[name] >= 50 && good[name] < 400, `${name}: ${good[name]} of 400 settings are right`);
    assert.deepEqual(pictures, [], "settings with another picture");
  });
});

// ---------------------------------------------------------- JupyterLab

describe("in JupyterLab", () => {
  for (const { chapter, cell, name } of explorers) {
    inWindow(`${name} in ${chapter}`, (step) => {
      const { key, typed } = TRY[name];

      step("it is live when the chapter opens", async (window) => {
        await window.open(lab.address(chapter));
        await window.cell(cell);
        const explorer = Explorer.in(window, name);
        await explorer.live();
        assertWell(name, await explorer.look());
      });

      step("it answers to the pointer, the keyboard and typing, and no key is a command of JupyterLab", async (window) => {
        const before = (await window.cells()).map(({ id }) => id);
        await use(Explorer.in(window, name), name);
        assert.deepEqual((await window.cells()).map(({ id }) => id), before, "the cells of the notebook");
      });

      step("its settings survive a reload, and the cell that runs again", async (window) => {
        const explorer = Explorer.in(window, name);
        await explorer.field(key).fill(typed);
        await window.page.keyboard.press("Enter");
        await explorer.look();
        const settings = await explorer.settings();
        await window.reload();
        await window.cell(cell);
        await explorer.live();
        assert.deepEqual(await explorer.settings(), settings);
        await window.run(cell);
        await until("the explorer in the new output", () => explorer.root.evaluate((host) => Boolean(host.memorywallState?.update)));
        assert.deepEqual(await explorer.settings(), settings);
      });

      step("its link opens the chapter with the settings", async (window) => {
        const explorer = Explorer.in(window, name);
        await explorer.live();
        const link = await linkOf(explorer);
        assert.ok(!link.includes("token"), link);
        assertNone("what the browser says", window.complaints);
        const other = await window.context.newPage();
        await other.goto(link);
        const root = other.locator(`.memorywall-explorer[data-explorer="${name}"]`);
        await root.locator(".mwx-picture svg").waitFor({ timeout: 60_000 });
        assert.equal(await root.evaluate((host) => host.memorywallState.view.query), link.replace(/^.*#\w+\?/, ""), link);
        await until("the explorer in view", () => root.evaluate((host) => {
          const { top, bottom } = host.getBoundingClientRect();
          return bottom > 0 && top < innerHeight;
        }));
        await other.close();
        window.complaints.length = 0; // that another page was opened
      });

      step("it can be read on dark and on light pages, wide and narrow", async (window) => {
        for (const [theme, short] of [["JupyterLab Dark", "dark"], ["JupyterLab Light", "light"]]) {
          await window.theme(theme);
          for (const width of [1440, 360]) {
            await window.page.setViewportSize({ width, height: 900 });
            await window.sidebar(width > 800);
            await window.cell(cell);
            const explorer = Explorer.in(window, name);
            await until(`${name} as it should look`, async () => {
              const look = await explorer.look();
              return look.texts.every((colour) => contrast(colour, look.paper) >= 4.5) && look.paper === look.behind;
            });
            assertWell(name, await explorer.look());
            if (SHOTS) await window.shot(`explorer.${short}.${width}`, explorer.root);
          }
        }
      });

      step("it logs no error and asks no other host", (window) => assertNone("what the browser says", window.complaints));
    });
  }

  test("JupyterLab stops", { timeout: LIMIT }, async () => {
    const one = lab;
    lab = undefined;
    await one.stop();
  });
});

describe("in a JupyterLab that does not trust the notebooks", () => {
  let untrusted;
  before(async () => (untrusted = await Lab.start({ trusted: false })));
  after(() => untrusted?.stop());

  inWindow("untrusted", (step) => {
    step("JupyterLab opens", (window) => window.page.goto(untrusted.address()));

    for (const { chapter, cell, name } of explorers) {
      step(`a picture and a table stand for ${name}, and no script runs`, async (window) => {
        await window.read(untrusted.path(chapter));
        // JupyterLab takes attributes such as data-explorer away.
        const { root, picture } = new Explorer(window, window.page.locator(".memorywall-explorer:visible"));
        await window.cell(cell);
        const still = root.locator(".memorywall-still img");
        await still.waitFor({ state: "visible" });
        assert.ok((await still.getAttribute("alt")).length > 80, "it says in words what it shows");
        assert.ok(await still.evaluate((image) => image.naturalWidth > 0), "it is a picture");
        assert.ok((await root.locator("details table tr").count()) > 10, "its values");
        assert.equal(await picture.count(), 0);
        assert.equal(await window.page.evaluate(() => typeof window.memorywall), "undefined");
        await window.closeTab();
        assertNone("what the browser says", window.complaints.splice(0));
      });
    }
  });
});

describe("altogether", () => {
  test("the built program is small enough to be fetched in a moment", (t) => {
    const built = join(FOLDER, "built", "explorer.wasm.js");
    t.diagnostic(`explorer.wasm.js: ${statSync(built).size} bytes, gzipped again ${gzipSync(readFileSync(built)).length}`);
    assert.ok(statSync(built).size < 3_000_000);
  });

  test("no page and no worker asked another host", async () => {
    const one = browser;
    browser = undefined;
    await one.stop();
    const { outside } = one.asked();
    assertNone("requests to other hosts", outside);
  });
});
