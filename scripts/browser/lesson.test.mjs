// The lesson as a reader meets it: JupyterLab, started by ./scripts/lesson, in a
// real Chromium. ./scripts/test browser runs these tests, of the chapters that
// MEMORYWALL_BROWSER_CHAPTERS names (such as "05_tile_size"; all without it).

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { allChapters, cellsOf, chapters, constant, figuresIn, htmlOf } from "./chapters.mjs";
import { Browser, kernelEnv, Lab, leftOver } from "./lab.mjs";
import { assertNone, contrast, SHOTS, windowsOf } from "./testing.mjs";
import { until } from "./wait.mjs";

const LIMIT = 600_000;

let browser, lab, untrusted;
const inWindow = windowsOf(() => browser, { limit: LIMIT });

before(async () => {
  lab = await Lab.start();
  browser = await Browser.start();
}, { timeout: 20 * 60_000 });

after(stop);

async function stop() {
  const running = [browser, lab, untrusted].filter(Boolean);
  lab = untrusted = undefined;
  for (const one of running) await one.stop();
}

/**
 * Fails with what these cells show, if any of them went wrong: an error, a word
 * on stderr, or an alert of pkg/lesson. A measured program above its roof is no
 * alert but a note, which only cells that measure may show.
 */
function assertAllWell(...cells) {
  const shown = (cell) => cell.outputs.map(htmlOf).join("\n");
  const failed = cells.filter((cell) =>
    cell.outputs.some((output) => output.output_type === "error" || output.name === "stderr") ||
    /<[^>]* role="alert"/.test(shown(cell)) ||
    (!cell.tags.includes("machine") && shown(cell).includes('class="memorywall-failure"')));
  assertNone("cells that went wrong", failed.map((cell) => `${cell.id}: ${cell.text.replace(/\s+/g, " ").slice(-600)}`));
}

/** Checks that each figure is drawn as a live chart, as it should look. */
async function assertLive(figures) {
  for (const figure of figures) {
    const look = await figure.drawn();
    assert.equal(look.lives, 1, `${figure.id} is drawn once`);
    assert.deepEqual(look.svg, look.declared, `size of ${figure.id}`);
    assert.deepEqual(look.stage, look.declared, `size that the page keeps for ${figure.id}`);
    assert.equal(look.cut, 0, `pixels of ${figure.id} that are out of the notebook's column`);
    assert.ok(look.shapes > 5 && look.words.length > 3, `${figure.id} has ${look.shapes} shapes and ${look.words.length} texts`);
    assert.ok(look.picture, `${figure.id} has a static picture`);
    assert.equal(look.picture.seen, false, `the static picture of ${figure.id} is seen beside the chart`);
    assert.ok(look.picture.alt.length > 20, `${figure.id} says in words what it shows`);
    assert.ok(look.table > 1, `${figure.id} has its numbers in a table`);
  }
}

// Warm times are taken in one chapter.
const timed = chapters.includes("02_roofline") ? "02_roofline" : chapters[0];

for (const chapter of chapters) {
  const committed = cellsOf(chapter);
  const parameters = committed.find((cell) => cell.tags.includes("parameters"));
  const tile = parameters?.source.split("\n").find((line) => constant(line) && /\/\/.*\btile size\b/.test(line));

  inWindow(chapter, (step) => {
    step("opens, and all its cells run without an error", async (window) => {
      await window.open(lab.address(chapter));
      const runs = await window.runAll(480_000);
      const cells = await window.cells();
      assert.deepEqual(runs.map((run) => run.id), cells.filter((cell) => cell.source.trim()).map((cell) => cell.id), "the cells that ran");
      assertAllWell(...cells);
      if (SHOTS) await window.shots();
    });

    step("its figures are live, at their size, and answer to the pointer", async (window) => {
      const figures = await window.figures();
      assert.ok(figures.length > 0, "the chapter has figures");
      await assertLive(figures);
      for (const figure of figures) {
        const tips = await figure.tooltips();
        assert.ok(tips.length > 0, `${figure.id} has series to point at`);
        if (SHOTS) await window.shot(`${figure.id}.light`, figure.root);
      }
    });

    step("its figures can be saved with the keyboard, as they are drawn", async (window) => {
      for (const figure of await window.figures()) {
        const { declared, csv } = await figure.look();
        assert.equal(await figure.buttons(), 3, `buttons of ${figure.id}`);
        const svg = await figure.save("SVG");
        assert.equal(svg.name, `${figure.id}.svg`);
        // The chart on the screen and the one that is saved are both the static
        // picture, which another program made.
        const picture = sameColours(await figure.source());
        assertSamePlaces(sameColours(String(svg.bytes)), picture, `SVG of ${figure.id}`);
        assertSamePlaces(withoutPaper(sameColours(await figure.onScreen())), withoutPaper(picture), `the live ${figure.id}`);
        const png = await figure.save("PNG");
        assert.equal(png.name, `${figure.id}.png`);
        const { colours, ...size } = await figure.decode(png.bytes);
        assert.deepEqual(size, { width: 2 * declared.width, height: 2 * declared.height, opaque: true }, `PNG of ${figure.id}`);
        assert.ok(colours > 10, `${figure.id} has ${colours} colours`);
        const data = await figure.save("CSV");
        assert.equal(data.name, `${figure.id}.csv`);
        assert.equal(String(data.bytes), csv);
        assert.ok(csv.split("\r\n").length > 2, `${figure.id} has the data ${csv}`);
      }
    });

    step("a figure's cell runs again", async (window) => {
      const [figure] = await window.figures();
      await window.run(figure.cell);
      assertAllWell(await window.oneCell(figure.cell));
      await assertLive((await window.figures()).filter((other) => other.cell === figure.cell));
    });

    step("a changed parameter changes the figure", async (window) => {
      assert.ok(parameters, "the chapter has a cell with the tag `parameters`");
      const [, name, value] = /\/\/ Try:.*?\b(\w+) = (\d(?:[\w.]*\w)?(?:(?<=e)[-+]\d+)?)/.exec(parameters.source) ?? [];
      assert.ok(name, "the cell says what to try, as in `// Try: n = 64`");
      const figuresOf = async () => (await window.figures()).filter((figure) => figure.cell === parameters.id);
      const option = async () => Promise.all((await figuresOf()).map(async (figure) => (await figure.look()).option));
      const before = await option();
      assert.ok(before.length > 0, "the cell draws a figure");
      await window.type(parameters.id, name, value);
      await window.run(parameters.id);
      assertAllWell(await window.oneCell(parameters.id));
      await assertLive(await figuresOf());
      assert.notDeepEqual(await option(), before, `the figure after ${name} = ${value}`);
    });

    if (tile) {
      const { name, value: good } = constant(tile);
      const line = parameters.source.split("\n").indexOf(tile) + 1;
      const plain = committed.find((cell) => cell.type === "code" && cell.tags.length === 0);

      for (const [value, says] of [
        ["0", /tile( size)? is 0\b.*must/],
        ["x", new RegExp(`Line ${line}\\b.*undefined: x`)],
        ['"x"', new RegExp(`Line ${line}\\b.*cannot use "x" \\(untyped string constant\\)`)],
        ["1.5", new RegExp(`Line ${line}\\b.*1\\.5 .*truncated`)],
      ]) {
        step(`${name} = ${value} gets a clear message, and the kernel lives`, async (window) => {
          await window.put(parameters.id, parameters.source);
          await window.type(parameters.id, name, value);
          await window.run(parameters.id);
          const cell = await window.oneCell(parameters.id);
          assert.ok(cell.outputs.some((output) => output.output_type === "error"), "the cell fails");
          assert.match(cell.text.replaceAll("\n", " "), says);
          if (value === "0") assert.match(JSON.stringify(cell.outputs), /role=\\"alert\\"/, "the message is an alert");
          await window.run(plain.id);
          assertAllWell(await window.oneCell(plain.id));
          await window.type(parameters.id, name, good);
          await window.run(parameters.id);
          assertAllWell(await window.oneCell(parameters.id));
        });
      }
    }

    if (chapter === timed) step("warm cells (reported, not judged)", warm);

    step("its figures are there again when its tab is closed and opened", async (window) => {
      const ids = (await window.figures()).map((figure) => figure.id);
      await window.save();
      await window.reopen(chapter);
      const figures = await window.figures();
      assert.deepEqual(figures.map((figure) => figure.id), ids);
      await assertLive(figures);
    });

    step("its figures are there again when the page is loaded again", async (window) => {
      const ids = (await window.figures()).map((figure) => figure.id);
      await window.reload();
      const figures = await window.figures();
      assert.deepEqual(figures.map((figure) => figure.id), ids);
      await assertLive(figures);
    });

    step("its figures can be read on dark and on light pages", async (window) => {
      for (const [theme, name] of [["JupyterLab Dark", "dark"], ["JupyterLab Light", "light"]]) {
        await window.theme(theme);
        for (const figure of await window.figures()) {
          await figure.drawn();
          let faint;
          await until(
            () => `texts of ${figure.id} that stand out from the ${name} page: ${faint.join(", ")}`,
            async () => {
              const look = await figure.look();
              faint = look.words.filter((word) => !(contrast(word.colour, look.paper) >= 3)).map((word) => `${word.text} (${word.colour})`);
              return faint.length === 0;
            },
          );
          if (SHOTS && name === "dark") await window.shot(`${figure.id}.dark`, figure.root);
        }
        // Pictures take the colours of the page.
        const wrong = await window.page.evaluate((name) =>
          [...document.querySelectorAll(".memorywall-drawing img, .memorywall-stage img")].filter((image) => getComputedStyle(image).colorScheme !== name).map((image) => image.alt), name);
        assertNone(`pictures that do not fit a ${name} page`, wrong);
        // What is saved is what is on the screen, with its paper.
        const [figure] = await window.figures();
        const svg = String((await figure.save("SVG")).bytes);
        const [, paper] = /<rect [^>]*fill="([^"]*)"/.exec(svg);
        const rgb = await window.page.evaluate((colour) => Object.assign(document.createElement("canvas").getContext("2d"), { fillStyle: colour }).fillStyle, paper);
        assert.ok(name === "dark" ? parseInt(rgb.slice(1, 3), 16) < 64 : rgb === "#ffffff", `${figure.id} is saved on ${rgb} from a ${name} page`);
        if (SHOTS && name === "dark") await window.shots("dark");
      }
    });

    step("it logs no error and asks no other host", (window) => assertNone("what the browser says", window.complaints));
  });
}

/** An SVG without its colours for dark pages, and with those for light ones as a page says them. */
function sameColours(svg) {
  return svg.replace(/<style>.*?<\/style>/, "").replace(/"#([0-9a-f]{6})([0-9a-f]{2})?"/g, (_, hex, alpha) => {
    const parts = [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)).join(", ");
    return alpha ? `"rgba(${parts}, ${Math.round(parseInt(alpha, 16) / 2.55) / 100})"` : `"rgb(${parts})"`;
  });
}

/** Fails unless two SVGs differ in nothing but tenths of pixels: a page draws with finer numbers, and a circle in fewer arcs. */
function assertSamePlaces(...svgs) {
  const what = svgs.pop();
  const [got, want] = svgs.map((svg) => svg.replace(/ d="M[\d.]+ [\d.]+A[^"]*"/g, ' d="circle"'));
  const number = /-?\d+(?:\.\d+)?/g;
  assert.equal(got.replace(number, "0"), want.replace(number, "0"), what);
  const numbers = want.match(number).map(Number);
  got.match(number).forEach((n, i) => assert.ok(Math.abs(n - numbers[i]) <= 0.1 + 1e-9, `${what}: ${n} for ${numbers[i]}`));
}

function withoutPaper(svg) {
  return svg.replace(/<rect [^>]*><\/rect>\n/, "");
}

/**
 * Times a plain cell, a cell with a figure, and `go build` of an empty program,
 * in turn. Each time the source differs in one variable, so that all three are
 * compiled and linked.
 */
async function warm(window, t) {
  const cells = (await window.cells()).filter((cell) => cell.tags.length === 0 && cell.source.includes("\n%%\n"));
  const plain = cells.find((cell) => figuresIn(cell.outputs).length === 0);
  const figure = cells.find((cell) => figuresIn(cell.outputs).length > 0);
  assert.ok(plain && figure, "the chapter has a plain cell and one with a figure");
  const env = kernelEnv();
  const folder = mkdtempSync(join(tmpdir(), "memorywall-"));
  writeFileSync(join(folder, "go.mod"), "module empty\n");
  const times = { build: [], plain: [], figure: [] };
  for (let round = 0; round < 6; round++) {
    writeFileSync(join(folder, "main.go"), `package main\n\nvar round = ${round}\n\nfunc main() {}\n`);
    const start = performance.now();
    execFileSync("go", ["build", "-o", "empty", "."], { cwd: folder, env });
    times.build.push(performance.now() - start);
    for (const [name, cell] of [["plain", plain], ["figure", figure]]) {
      await window.put(cell.id, cell.source.replace("\n%%\n", `\nvar round = ${round}\n\n%%\n`));
      times[name].push(await window.run(cell.id));
    }
  }
  rmSync(folder, { recursive: true });
  for (const cell of [plain, figure]) {
    assertAllWell(await window.oneCell(cell.id));
    await window.put(cell.id, cell.source);
  }
  // The first round fills caches. The best of the others was disturbed least.
  const [build, ...rest] = Object.entries(times).map(([name, all]) => ({ name, ms: Math.min(...all.slice(1)) }));
  const said = rest.map(({ name, ms }) => `${name} cell ${ms.toFixed(0)} ms, ${(ms / build.ms).toFixed(2)} times`);
  t.diagnostic(`warm, best of five: ${said.join("; ")} an empty program's go build of ${build.ms.toFixed(0)} ms`);
}

inWindow("an empty notebook", (step) => {
  step("JupyterLab by itself logs no error and asks no other host", async (window) => {
    lab.write("empty", [{ cell_type: "code", id: "empty", metadata: {}, execution_count: null, outputs: [], source: [] }]);
    await window.open(lab.address("empty"));
    await window.menu("Run", "Run All Cells");
    await window.save();
    assertNone("what the browser says", window.complaints);
  });
});

inWindow("the glossary", (step) => {
  // The first link opens the page, the others find it open and somewhere else.
  const links = [[chapters[0], 0], ...chapters.slice(0, 3).map((chapter) => [chapter, -1])];
  links.forEach(([chapter, at], nth) => {
    step(`the ${at === 0 ? "first" : "last"} link of ${chapter} leads to the entry of its term`, async (window) => {
      if (nth === 0) await window.page.goto(lab.address());
      await window.read(lab.path(chapter));
      // JupyterLab resolves the links of a text some time after it shows it.
      const seen = await until(`more than five links from ${chapter} to the glossary`, async () => {
        const all = await window.page.locator('.jp-NotebookPanel a[href*="/glossary.ipynb"][href*="#cell-id="]:visible').all();
        return all.length > 5 && all;
      });
      const link = seen.at(at);
      const [, entry] = /#cell-id=(.+)$/.exec(await link.getAttribute("href"));
      await link.click();
      await until(`the entry ${entry} in sight`, () => window.page.evaluate((entry) => {
        const panel = window.jupyterapp.shell.currentWidget;
        if (!panel?.context?.path.endsWith("/glossary.ipynb")) return false;
        const heading = panel.content.widgets.find((cell) => cell.model.id === entry)?.node.querySelector("h2");
        const top = heading?.getBoundingClientRect().top;
        return top >= 0 && top < innerHeight - 100;
      }, entry));
      assertNone("what the browser says", window.complaints);
    });
  });
});

describe("in a JupyterLab that does not trust the notebooks", () => {
  before(async () => (untrusted = await Lab.start({ trusted: false })));

  inWindow("untrusted", (step) => {
    step("JupyterLab opens", (window) => window.page.goto(untrusted.address()));

    for (const chapter of chapters) {
      step(`pictures stand for the figures of ${chapter}, and no script runs`, async (window) => {
        await window.read(untrusted.path(chapter));
        const cells = await window.cells();
        const figures = await window.figures();
        assert.ok(figures.length > 0, "the chapter has figures");
        for (const figure of figures) {
          assert.equal(cells.find((cell) => cell.id === figure.cell).trusted, false, `trust in the cell ${figure.cell}`);
          const picture = await figure.pictured();
          assert.ok(picture.alt.length > 20, `${figure.id} says in words what it shows`);
          const look = await figure.look();
          assert.deepEqual({ width: picture.width, height: picture.height }, look.stage, `size of ${figure.id}`);
          assert.equal(look.lives, 0, `${figure.id} is not drawn by a script`);
          assert.equal(look.cut, 0, `pixels of ${figure.id} that are out of the notebook's column`);
          assert.ok(look.table > 1, `${figure.id} has its numbers in a table`);
          assert.equal(await figure.buttons(), 0, `buttons of ${figure.id}, which no script could answer`);
        }
        assert.deepEqual(await window.page.evaluate(() => [typeof window.echarts, typeof window.memorywall]), ["undefined", "undefined"]);
        if (SHOTS) await window.shots(chapter);
        await window.closeTab();
        assertNone("what the browser says", window.complaints.splice(0));
      });
    }
  });
});

describe("altogether", () => {
  test("some chapter has a tile size to get wrong", () => {
    const sizes = allChapters().flatMap((chapter) => cellsOf(chapter).filter((cell) => cell.tags.includes("parameters") && /\/\/.*\btile size\b/.test(cell.source)));
    assert.ok(sizes.length > 0);
  });

  test("JupyterLab stops, and nothing is left running", { timeout: LIMIT }, async () => {
    await stop();
    await until(() => `an end of:\n${leftOver().map(({ pid, command }) => `${pid} ${command}`).join("\n")}`, () => leftOver().length === 0);
  });

  test("no page and no worker asked another host", () => {
    const { count, outside } = browser.asked();
    assert.ok(count > 100, `Chromium's log of the network has ${count} requests`);
    assertNone("requests to other hosts", outside);
  });
});
