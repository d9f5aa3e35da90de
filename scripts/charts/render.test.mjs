// node --test: the renderer and the house style. Needs `npm ci` in this folder.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { BadRequest, render } from "./render.mjs";

const require = createRequire(import.meta.url);
const figure = require("./figure.js");
const loadEcharts = () => ({ echarts: require("./node_modules/echarts/dist/echarts.min.js") });
const here = fileURLToPath(new URL(".", import.meta.url));
const data = join(here, "../../pkg/lesson/testdata");
const read = (path) => JSON.parse(readFileSync(path, "utf8"));
const options = Object.fromEntries(
  readdirSync(join(data, "figures"))
    .sort()
    .map((name) => [name.replace(".json", ""), read(join(data, "figures", name))]),
);
const frame = (id) => ({ width: 760, height: 420, id });

test("numbers are written as in pkg/lesson", () => {
  const cases = read(join(data, "format.json"));
  for (const [v, unit, want] of cases.si) assert.equal(figure.si(v, unit), want);
  for (const [v, unit, base, want] of cases.value) assert.equal(figure.value(v, unit, base), want);
  for (const [v, kind, want] of cases.tick) assert.equal(figure.ticks[kind](v), want);
});

describe("the picture", () => {
  const names = Object.keys(options);

  test("there are options of every kind of figure", () => {
    assert.ok(names.length >= 10, `only ${names}`);
  });

  for (const name of names) {
    test(`of ${name}`, () => {
      const svg = render(options[name], frame(name));
      assert.match(svg, /^<svg [^>]*viewBox="0 0 760 420"/);
      assert.ok(svg.endsWith("</svg>\n"));
      for (const bad of [/NaN/, /undefined/, /Infinity/, /<script/i, /ecmeta_/, /mw:(?!text<)/, /\bhref=/, /zr\d+-/]) {
        assert.doesNotMatch(svg, bad);
      }
      // Every tag that is opened is closed, in order.
      const open = [];
      for (const [, slash, tag, self] of svg.matchAll(/<(\/?)([A-Za-z]+)(?:\s[^<>]*?)?(\/?)>/g)) {
        if (slash) assert.equal(open.pop(), tag);
        else if (!self) open.push(tag);
      }
      assert.deepEqual(open, []);
      // The title stands in it, in as many lines as it takes.
      const text = [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map((m) => m[1]);
      for (const line of options[name].title[0].text.split("\n")) {
        const escaped = line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
        assert.ok(text.includes(escaped), `no ${escaped} among ${text}`);
      }
    });
  }

  test("has the labels of ticks with prefixes", () => {
    const text = render(options.roofline, frame("r"));
    for (const label of ["1T", "10T", "100T", "0.1", "1k"]) assert.ok(text.includes(`>${label}</text>`), label);
    assert.ok(!text.includes("000,000"));
  });

  test("is the same, however often and in whatever order", () => {
    const first = Object.fromEntries(names.map((n) => [n, render(options[n], frame(n))]));
    for (const n of [...names].reverse()) assert.equal(render(options[n], frame(n)), first[n]);
    for (let i = 0; i < 5; i++) assert.equal(render(options.roofline, frame("roofline")), first.roofline);
  });

  test("does not change its option", () => {
    const copy = structuredClone(options.marks);
    render(copy, frame("marks"));
    assert.deepEqual(copy, options.marks);
  });

  test("names the ids inside after the figure", () => {
    const svg = render(options.lines, frame("figure-1"));
    const ids = [...svg.matchAll(/ id="([^"]*)"/g)].map((m) => m[1]);
    assert.ok(ids.length > 0);
    for (const id of ids) assert.match(id, /^figure-1-/);
  });

  test("of a thing that is none is refused", () => {
    const ok = options.line;
    for (const [option, at] of [
      [ok, { width: 0, height: 1 }],
      [ok, { width: 1e9, height: 1 }],
      [ok, { width: "7x", height: 1 }],
      [ok, { height: 1 }],
      [ok, { ...frame('a"b') }],
      [ok, { ...frame("") }],
      [null, frame("a")],
      [[], frame("a")],
      ["x", frame("a")],
    ]) {
      assert.throws(() => render(option, at), BadRequest);
    }
  });
});

describe("the places of texts", () => {
  test("do not depend on the fonts of whoever draws", () => {
    const { echarts } = loadEcharts();
    const first = render(options["upright-bars"], frame("b"));
    echarts.setPlatformAPI({ measureText: (text) => ({ width: 100 * text.length }) });
    assert.equal(render(options["upright-bars"], frame("b")), first);
  });
});

describe("what a picture leaves out", () => {
  test("is what does not show", () => {
    const kept = '<path d="M0 0" fill="#fff"></path>\n<path d="M0 0" fill="none" stroke="#000"></path>\n<path d="M0 0" fill="rgb(0,0,0)" fill-opacity="0" stroke="red"></path>\n';
    const gone =
      '<path d="M0 0" fill="none" pointer-events="visible" stroke="none"></path>\n' +
      '<path d="M0 0" fill="none" pointer-events="visible"></path>\n' +
      '<path d="M0 0" fill="rgb(0,0,0)" fill-opacity="0" stroke="#333" stroke-width="0"></path>\n';
    assert.equal(figure.tidy(`<svg width="1">\n${kept}${gone}</svg>`), `<svg width="1">\n${kept}</svg>`);
  });

  test("is the font of each text, which the picture has once", () => {
    const text = (t) => `<text style="font-size:12px;font-family:system-ui, 'A b';" ecmeta_x="1">${t}</text>`;
    assert.equal(
      figure.tidy(`<svg w="1">${text("font-family:no;")}${text("2")}</svg>`),
      `<svg font-family="system-ui, 'A b'" w="1"><text style="font-size:12px;">font-family:no;</text><text style="font-size:12px;">2</text></svg>`,
    );
    assert.equal(render(options.roofline, frame("r")).split("font-family").length, 2);
  });

  test("is no more than that: all that is drawn stays, in order", () => {
    const { echarts } = loadEcharts();
    for (const [name, option] of Object.entries(options)) {
      const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width: 760, height: 420 });
      chart.setOption({ ...figure.prepare(option, "light"), backgroundColor: figure.themes.light.paper, animation: false });
      const whole = chart.renderToSVGString({ useViewBox: true });
      chart.dispose();
      const texts = (svg) => [...svg.matchAll(/>([^<>\n]+)<\/text>/g)].map((m) => m[1]);
      const shapes = (svg) => [...svg.matchAll(/<path d="([^"]*)"([^>]*)>/g)].filter((m) => / stroke="#/.test(m[2]) && !/ stroke-width="0"/.test(m[2])).map((m) => m[1]);
      const small = render(option, frame(name));
      assert.deepEqual(texts(small), texts(whole), name);
      assert.deepEqual(shapes(small), shapes(whole), name);
      assert.ok(shapes(small).length > 0, name);
      assert.ok(small.length < 0.8 * whole.length, `${name}: ${small.length} of ${whole.length} bytes`);
    }
  });
});

describe("the house style", () => {
  test("replaces names where an option has no functions", () => {
    const p = figure.prepare(
      { mw: { x: {}, y: {} }, a: [{ color: "mw:series:1", formatter: "mw:tick:si" }], splitLine: { color: ["transparent", "mw:colour:grid"] } },
      "light",
    );
    assert.equal(p.a[0].color, figure.themes.light.series[1]);
    assert.equal(p.a[0].formatter(1e12), "1T");
    assert.deepEqual(p.splitLine.color, ["transparent", figure.themes.light.grid]);
    assert.equal(p.mw, undefined);
  });

  test("leaves texts alone that look like names", () => {
    const p = figure.prepare({ mw: {}, name: "mw:series:1", data: [{ text: "mw:colour:text", name: "mw:" }] }, "light");
    assert.equal(p.name, "mw:series:1");
    assert.equal(p.data[0].text, "mw:colour:text");
  });

  test("has no unknown names", () => {
    assert.throws(() => figure.prepare({ mw: {}, color: "mw:nothing" }, "light"), /unknown name mw:nothing/);
  });

  test("gives more series than colours colours all the same", () => {
    const n = figure.themes.light.series.length;
    const p = figure.prepare({ mw: {}, color: `mw:series:${n + 1}` }, "dark");
    assert.equal(p.color, figure.themes.dark.series[1]);
  });

  // Relative luminance and contrast as in WCAG 2.
  const luminance = (hex) => {
    const [r, g, b] = [1, 3, 5].map((i) => {
      const c = parseInt(hex.slice(i, i + 2), 16) / 255;
      return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };

  for (const [name, theme] of Object.entries(figure.themes)) {
    test(`has text that can be read in the ${name} theme`, () => {
      for (const colour of [theme.text, theme.muted, ...theme.ink]) {
        assert.ok(contrast(colour, theme.paper) >= 4.5, `${colour} on ${theme.paper}: ${contrast(colour, theme.paper).toFixed(2)}`);
      }
      assert.ok(contrast(theme.text, theme.tip) >= 4.5);
      assert.equal(theme.ink.length, theme.series.length);
      for (const colour of theme.series) {
        assert.match(colour, /^#[0-9a-f]{6}$/);
        assert.ok(contrast(colour, theme.paper) >= 2, `${colour} on ${theme.paper}`);
      }
    });
  }

  // How colours look to those who lack one kind of cone: the matrices of
  // Machado, Oliveira and Fernandes (2009), severity 1, for linear RGB.
  const SIGHT = {
    "full colour vision": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
  };
  const linear = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  /** CIE L*a*b* of a colour as somebody sees it; white is that of sRGB. */
  const seen = (hex, matrix) => {
    const [r, g, b] = matrix.map((row) => row.reduce((sum, m, i) => sum + m * linear(hex)[i], 0)).map((c) => Math.min(1, Math.max(0, c)));
    const f = (t) => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 * t + 16) / 116);
    const [x, y, z] = [
      f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505), f(0.2126 * r + 0.7152 * g + 0.0722 * b), f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089),
    ];
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
  };
  const distance = (a, b, matrix) => Math.hypot(...seen(a, matrix).map((v, i) => v - seen(b, matrix)[i]));
  const APART = 10; // in L*a*b*, where 2.3 can just be told

  for (const [name, theme] of Object.entries(figure.themes)) {
    for (const [sight, matrix] of Object.entries(SIGHT)) {
      test(`has colours that stay apart with ${sight}, in the ${name} theme`, () => {
        theme.series.forEach((a, i) => {
          for (const b of theme.series.slice(i + 1)) {
            assert.ok(distance(a, b, matrix) >= APART, `${a} and ${b} are ${distance(a, b, matrix).toFixed(1)} apart`);
          }
        });
      });
    }
  }

  test("measures colours as others do", () => {
    // Bruce Lindbloom's calculator gives L*a*b* of sRGB red as 53.24, 80.09, 67.20 (D65).
    seen("#ff0000", SIGHT["full colour vision"]).forEach((v, i) => assert.ok(Math.abs(v - [53.24, 80.09, 67.2][i]) < 0.1, String(v)));
    // Red and a dark green that a protanope mixes up.
    assert.ok(distance("#a00000", "#4d4800", SIGHT.protanopia) < distance("#a00000", "#4d4800", SIGHT["full colour vision"]) / 2);
  });

  /** What tells two series of an option apart in grey, or nothing. */
  function cue(option, a, b) {
    const words = option.series.at(-1).data.map((word) => word.text.replace(/\s+/g, " "));
    const direct = (one) => words.some((word) => word.replace(/^\W /, "") === one.name) || one.data.every((d) => d.text && one.type === "scatter");
    // Roofs are named above their flat parts, or, of one machine, along their
    // slopes, without what they share.
    const along = (one) => words.some((word) => word.startsWith(`${one.name}, peak `)) || words.some((word) => /, [\d.]+ .?B\/s$/.test(word) && one.name.startsWith(word.replace(/, [^,]*$/, "")));
    const hatch = (one) => JSON.stringify(one.itemStyle.decal ?? null);
    const shape = (one) => (one.type === "scatter" || one.showSymbol ? one.symbol : undefined);
    if (a.type !== b.type) return "kind";
    if ((a.lineStyle?.type ?? "solid") !== (b.lineStyle?.type ?? "solid")) return "dashes";
    if (a.type === "bar") return hatch(a) !== hatch(b) && "hatching";
    if (direct(a) && direct(b)) return "names";
    if (along(a) && along(b)) return "names along the lines";
    return shape(a) && shape(b) && shape(a) !== shape(b) && "symbols";
  }

  test("tells series apart by more than their hue", () => {
    const found = new Set();
    for (const [name, option] of Object.entries(options)) {
      const series = option.series.slice(0, -1);
      series.forEach((a, i) => {
        for (const b of series.slice(i + 1)) {
          const what = cue(option, a, b);
          assert.ok(what, `${name}: only the hue tells "${a.name}" from "${b.name}"`);
          found.add(what);
        }
      });
    }
    assert.deepEqual([...found].sort(), ["dashes", "hatching", "kind", "names", "names along the lines"]);
  });

  test("hatches the bars of a second series", () => {
    const svg = render(options["upright-bars"], frame("b"));
    assert.match(svg, /<pattern [^>]*id="b-p0"/);
    assert.ok(svg.split('fill="url(#b-p0)"').length > 3);
    assert.doesNotMatch(render(options["level-bars"], frame("b")), /<pattern/);
  });

  const tooltip = (x, y) => figure.prepare({ mw: { x, y }, tooltip: { formatter: "mw:tooltip" } }, "light").tooltip.formatter;

  test("says values with units in tooltips", () => {
    const show = tooltip({ name: "intensity", unit: "FLOP/byte", base: 0 }, { name: "performance", unit: "FLOP/s", base: 0 });
    assert.equal(
      show([
        { value: [153.0161844, 312e12], seriesName: "A100", marker: "*", data: {} },
        { value: [153.0161844, 1e12], seriesName: "programs", marker: "*", data: { text: "mine" } },
      ]),
      "intensity: 153.016 FLOP/byte<br>*A100: <b>312 TFLOP/s</b><br>*mine: <b>1 TFLOP/s</b>",
    );
    assert.equal(show({ value: [1, 2e12], seriesName: "", marker: "", data: {} }), "intensity: 1 FLOP/byte<br>performance: <b>2 TFLOP/s</b>");
    assert.equal(show([]), "");
  });

  test("says the category and the length of a bar", () => {
    const level = tooltip({ name: "time", unit: "s" }, { name: "what", category: true });
    assert.equal(level([{ name: "naive\ntraffic", value: [0.13483, 1], seriesName: "", marker: "", data: { text: "134.8 ms, 306 times" } }]), "naive traffic<br>time: <b>134.8 ms</b>");
    const upright = tooltip({ name: "what", category: true }, { name: "time", unit: "s" });
    assert.equal(upright([{ name: "math", value: [0, 0.00044051], seriesName: "floor", marker: "" }]), "math<br>floor: <b>440.5 µs</b>");
  });

  test("lets no name into the page as markup", () => {
    const show = tooltip({ name: "<i>x</i>", unit: "<u>", base: 0 }, { name: "y", unit: "&", base: 0 });
    const html = show([{ value: [1, 2], seriesName: "</b><script>", marker: "", data: { text: "<img onerror=1>" } }]);
    assert.doesNotMatch(html, /<(i|u|script|img)/);
  });
});

const renderer = join(here, "render.mjs");

function run(args, input, kill) {
  return new Promise((done) => {
    const child = spawn(process.execPath, [renderer, ...args], { stdio: ["pipe", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (d) => (stdout += d));
    child.stderr.on("data", (d) => (stderr += d));
    child.on("close", (code) => done({ code, stdout, stderr }));
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    kill?.(child);
  });
}

describe("the command", () => {
  test("draws an option from standard input", async () => {
    const { code, stdout } = await run(["--id", "line"], JSON.stringify(options.line));
    assert.equal(code, 0);
    assert.equal(stdout, render(options.line, frame("line")));
  });

  test("says what is wrong in one line, and ends with 2", async () => {
    for (const [args, input, want] of [
      [[], "{", /^render: the option is not JSON: .*\n$/],
      [["--width", "x"], "{}", /^render: width is x: it must be a whole number from 1 to 4000\n$/],
      [["--nonsense"], "{}", /^render: Unknown option '--nonsense'/],
      [["--socket", "/tmp/x", "--parent", "x"], "", /^render: --parent is x: it must be a process id\n$/],
    ]) {
      const { code, stdout, stderr } = await run(args, input);
      assert.equal(code, 2);
      assert.equal(stdout, "");
      assert.match(stderr, want);
    }
  });

  test("says why it cannot listen", async () => {
    const { code, stderr } = await run(["--socket", "/nonexistent/s"], "");
    assert.equal(code, 1);
    assert.match(stderr, /^render: \/nonexistent\/s: /);
  });
});

const until = async (what, condition) => {
  for (let i = 0; i < 200; i++) {
    if (condition()) return;
    await new Promise((r) => setTimeout(r, 50));
  }
  assert.fail(`${what}: waited ten seconds`);
};

describe("the server", () => {
  let folder, socket, child, parent, ended;

  const ask = (method, path, body) =>
    new Promise((done, failed) => {
      const r = request({ socketPath: socket, method, path, agent: false }, (response) => {
        let text = "";
        response.on("data", (d) => (text += d));
        response.on("end", () => done({ status: response.statusCode, type: response.headers["content-type"], text }));
      });
      r.on("error", failed);
      r.end(body);
    });

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "mw"));
    socket = join(folder, "s");
    parent = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    child = spawn(process.execPath, [renderer, "--socket", socket, "--parent", String(parent.pid)], { stdio: "ignore" });
    ended = new Promise((done) => child.on("exit", (code, signal) => done({ code, signal })));
    await until("the socket", () => existsSync(socket));
  });

  after(() => {
    child.kill("SIGKILL");
    parent.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });

  test("is for one user alone", () => {
    assert.equal(statSync(socket).mode & 0o777, 0o600);
  });

  test("says when it is ready", async () => {
    assert.deepEqual(await ask("GET", "/"), { status: 200, type: "text/plain", text: "ready\n" });
  });

  test("draws what the command draws, also many at once", async () => {
    const names = Object.keys(options);
    const answers = await Promise.all(
      [...names, ...names].map((n) => ask("POST", `/svg?width=760&height=420&id=${n}`, JSON.stringify(options[n]))),
    );
    answers.forEach((a, i) => {
      const name = names[i % names.length];
      assert.equal(a.status, 200);
      assert.equal(a.type, "image/svg+xml");
      assert.equal(a.text, render(options[name], frame(name)));
    });
  });

  test("refuses, and lives on", async () => {
    for (const [method, path, body, status] of [
      ["POST", "/svg?width=1&height=1", "{", 400],
      ["POST", "/svg?width=0&height=1", "{}", 400],
      ["POST", "/svg", "{}", 400],
      ["GET", "/svg", undefined, 405],
      ["GET", "/etc/passwd", undefined, 404],
      ["POST", "/svg?width=10&height=10", '{"mw":{},"color":"mw:nothing"}', 500],
      ["POST", "/svg?width=10&height=10", "[]", 400],
    ]) {
      assert.equal((await ask(method, path, body)).status, status, `${method} ${path} ${body}`);
    }
    assert.equal((await ask("GET", "/")).status, 200);
  });

  test("ignores the interrupt of a cell", async () => {
    child.kill("SIGINT");
    await new Promise((r) => setTimeout(r, 200));
    assert.equal((await ask("GET", "/")).status, 200);
  });

  test("ends with its parent and leaves no socket", async () => {
    parent.kill("SIGKILL");
    assert.deepEqual(await ended, { code: 0, signal: null });
    assert.ok(!existsSync(socket));
  });

  test("leaves another's socket alone", async () => {
    const path = join(folder, "t");
    const second = spawn(process.execPath, [renderer, "--socket", path], { stdio: "ignore" });
    const gone = new Promise((done) => second.on("exit", done));
    await until("the socket", () => existsSync(path));
    rmSync(path);
    writeFileSync(path, "mine");
    second.kill("SIGTERM");
    assert.equal(await gone, 0);
    assert.equal(readFileSync(path, "utf8"), "mine");
  });
});
