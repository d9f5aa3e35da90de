// node --test: the pictures of figures and the house style. Needs `npm ci` in this folder.

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { BadRequest, render } from "./render.mjs";

const require = createRequire(import.meta.url);
const place = require("./place.js");
const picture = require("./picture.js");
const echarts = require("./node_modules/echarts/dist/echarts.min.js");
const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "../..");
const frame = (id, width = 760, height = 420) => ({ width, height, id });

/** Figures by name, {option, width, height}: those of pkg/lesson's gallery and those that the chapters show. */
const figures = {};
{
  const folder = mkdtempSync(join(tmpdir(), "mw"));
  execFileSync("go", ["test", "./pkg/lesson", "-count=1", "-run", "^TestGallery$"], { cwd: root, env: { ...process.env, MEMORYWALL_GALLERY: folder } });
  for (const file of readdirSync(folder).sort()) figures[file.replace(".json", "")] = JSON.parse(readFileSync(join(folder, file), "utf8"));
  rmSync(folder, { recursive: true });
  for (const file of readdirSync(join(root, "notebooks")).filter((name) => name.endsWith(".ipynb")).sort()) {
    const { cells } = JSON.parse(readFileSync(join(root, "notebooks", file), "utf8"));
    for (const output of cells.flatMap((cell) => cell.outputs ?? [])) {
      const html = [].concat(output.data?.["text/html"] ?? "").join("");
      const data = /<script type="application\/json">(.*?)<\/script>/s.exec(html);
      if (data) figures[/id="([^"]+)"/.exec(html)[1]] = JSON.parse(data[1]);
    }
  }
}
const options = Object.fromEntries(Object.entries(figures).map(([name, { option }]) => [name, option]));

/** A chart of a figure, for as long as action takes. */
function charted(option, width, height, action) {
  echarts.setPlatformAPI({ measureText: picture.measureText });
  const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width, height });
  try {
    return action(chart, picture.draw(chart, option, width, height));
  } finally {
    chart.dispose();
  }
}

/** A line through points [x, y] with axes of the given kind, as pkg/lesson writes it. */
function line(points, { x = {}, y = {}, marks = [], name = "a", mw = {} } = {}) {
  return {
    title: { text: "A title" },
    xAxis: { type: "value", name: "x", ...x }, yAxis: { type: "value", name: "y", ...y },
    series: [
      { type: "line", name, data: points.map(([a, b, label]) => [a, b, String(a), String(b), ...(label ? [label] : [])]) },
      ...(marks.length ? [{ type: "scatter", name: "", silent: true, data: [], markLine: { data: marks } }] : []),
    ],
    mw: { x: { steps: [] }, y: { steps: [] }, named: false, plain: false, low: false, along: [], asides: [], ...mw },
  };
}
const LOG = { type: "log", logBase: 10 };

describe("the picture", () => {
  test("there are figures of every kind", () => {
    assert.ok(Object.keys(figures).length >= 40, `only ${Object.keys(figures)}`);
  });

  for (const [name, { option, width, height }] of Object.entries(figures)) {
    test(`of ${name}`, () => {
      const svg = render(option, frame(name, width, height));
      assert.ok(svg.startsWith("<svg ") && svg.includes(`viewBox="0 0 ${width} ${height}"`));
      assert.ok(svg.endsWith("</svg>\n"));
      for (const bad of [/NaN/, /undefined/, /Infinity/, /<script/i, /ecmeta_/, /\bhref=/, /zr\d+-/]) assert.doesNotMatch(svg, bad);
      // Every tag that is opened is closed, in order.
      const open = [];
      for (const [, slash, tag, self] of svg.matchAll(/<(\/?)([A-Za-z]+)(?:\s[^<>]*?)?(\/?)>/g)) {
        if (slash) assert.equal(open.pop(), tag);
        else if (!self) open.push(tag);
      }
      assert.deepEqual(open, []);
      // The title stands in it, in as many lines as it takes, and all colours are of the palette.
      const text = [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map((m) => m[1]).join(" ").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
      assert.ok(text.includes(option.title.text.replace(/\s+/g, " ")), `no title in ${text}`);
      assert.doesNotMatch(svg.replace(/<clipPath.*?<\/clipPath>|<path d="M0 5L25 5"[^>]*>/gs, ""), /(fill|stroke)="(#|rgb)/);
    });
  }

  test("is the same, however often and in whatever order", () => {
    const names = Object.keys(figures).slice(0, 16);
    const first = Object.fromEntries(names.map((n) => [n, render(options[n], frame(n))]));
    for (const n of [...names].reverse()) assert.equal(render(options[n], frame(n)), first[n]);
  });

  test("does not change its option, and names the ids inside after the figure", () => {
    const copy = structuredClone(options.marks);
    render(copy, frame("marks"));
    assert.deepEqual(copy, options.marks);
    const ids = [...render(options.lines, frame("figure-1")).matchAll(/ id="([^"]*)"/g)].map((m) => m[1]);
    assert.ok(ids.length > 0);
    for (const id of ids) assert.match(id, /^figure-1-/);
  });

  test("of a thing that is none is refused", () => {
    const ok = options.line;
    for (const [option, at] of [
      [ok, { width: 0, height: 1 }], [ok, { width: 1e9, height: 1 }], [ok, { width: "7x", height: 1 }], [ok, { height: 1 }],
      [ok, { ...frame('a"b') }], [ok, { ...frame("") }], [null, frame("a")], [[], frame("a")], ["x", frame("a")],
    ]) {
      assert.throws(() => render(option, at), BadRequest);
    }
  });

  test("of values at the ends of what a float64 can say", () => {
    const values = [1e-300, 1e-290, 1e-12, 1, 1 + 1e-15, 1e15, 4.9e287, 1e300];
    for (const a of values) {
      for (const b of values) {
        for (const axes of [{}, { x: LOG, y: LOG }]) {
          for (const points of [[[1, a, "a"], [b, 2]], ...(axes.x ? [] : [[[-b, -a], [1, 1]]])]) {
            const svg = render(line(points, { ...axes, marks: [{ yAxis: a, name: "m" }, { xAxis: b, name: "n" }] }), frame("f"));
            assert.doesNotMatch(svg, /NaN|Infinity|undefined/, `${a} and ${b}, ${JSON.stringify(axes)}`);
          }
        }
      }
    }
  });

  test("leaves out what does not show", () => {
    const kept = '<path d="M0 0" fill="#fff"></path>\n<path d="M0 0" fill="none" stroke="#000"></path>\n<path d="M0 0" fill="rgb(0,0,0)" fill-opacity="0" stroke="red"></path>\n';
    const gone =
      '<path d="M0 0" fill="none" pointer-events="visible" stroke="none"></path>\n' +
      '<path d="M0 0" fill="none" pointer-events="visible"></path>\n' +
      '<path d="M0 0" fill="none" stroke="transparent"></path>\n' +
      '<path d="M0 0" fill="rgb(0,0,0)" fill-opacity="0" stroke="#333" stroke-width="0"></path>\n';
    assert.equal(picture.tidy(`<svg width="1">\n${kept}${gone}</svg>`), `<svg width="1">\n${kept}</svg>`);
    const text = (t) => `<text style="font-size:12px;font-family:system-ui, 'A b';" ecmeta_x="1">${t}</text>`;
    assert.equal(picture.tidy(`<svg width="1">${text("a")}${text("b")}</svg>`),
      `<svg font-family="system-ui, 'A b'" width="1"><text style="font-size:12px;">a</text><text style="font-size:12px;">b</text></svg>`);
  });
});

describe("marks", () => {
  /** Those values whose level marks the picture has elsewhere. */
  const misplaced = (values, option, precision) => charted(option, 760, 420, (chart) => {
    if (precision !== undefined) chart.setOption({ series: chart.getOption().series.map((s) => ({ ...s, markLine: s.markLine && { ...s.markLine, precision } })) });
    const y = [...chart.renderToSVGString().matchAll(/<path d="M[\d.]+ ([\d.]+)L[\d.]+ \1"[^>]*stroke="var\(--mw-muted\)"/g)].map((m) => Number(m[1]));
    return values.filter((v, i) => !(Math.abs(y[i] - chart.convertToPixel({ gridIndex: 0 }, [1, v])[1]) <= 1));
  });

  test("stand at their values, however small, and rounded ones are seen", () => {
    for (const values of [[0.00121, 0.001391], [1.2349, 1.2351]]) {
      const option = line([[1, values[0]], [2, values[1]]], { marks: values.map((v) => ({ yAxis: v, name: String(v) })) });
      assert.deepEqual(misplaced(values, option), []);
      assert.notDeepEqual(misplaced(values, option, 2), []); // what ECharts does by itself
    }
  });

  test("lie inside the axes", () => {
    charted(line([[1, 1], [2, 2]], { marks: [{ yAxis: 16, name: "peak" }, { xAxis: -3, name: "left" }] }), 760, 420, (chart) => {
      const { x, y, width, height } = chart.getModel().getComponent("grid").coordinateSystem.getRect();
      const [px, py] = chart.convertToPixel({ gridIndex: 0 }, [-3, 16]);
      assert.ok(px >= x && px <= x + width && py >= y && py <= y + height);
    });
  });
});

/** The texts of an SVG with the quadrilaterals that they cover, as wide as place.js takes them to be. */
function texts(svg) {
  return [...svg.matchAll(/<text([^>]*)>([^<]*)<\/text>/g)].map(([, attributes, raw]) => {
    const get = (name, otherwise) => new RegExp(`${name}="([^"]*)"`).exec(attributes)?.[1] ?? otherwise;
    const text = raw.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
    const size = Number(/font-size:([\d.]+)px/.exec(attributes)?.[1] ?? 12);
    const w = place.wide(text, size) * (/font-weight:bold/.test(attributes) ? 1.14 : 1) * 0.97;
    const left = { start: 0, middle: -w / 2, end: -w }[get("text-anchor", "start")] + Number(get("x", 0)), top = Number(get("y", 0)) - size * 0.42;
    const move = get("transform", "");
    let [a, b, c, d, e, f] = [1, 0, 0, 1, 0, 0];
    const matrix = /matrix\(([^)]*)\)/.exec(move), shift = /translate\(([^)]*)\)/.exec(move);
    if (matrix) [a, b, c, d, e, f] = matrix[1].split(/[ ,]+/).map(Number);
    else if (shift) [e, f] = shift[1].split(/[ ,]+/).map(Number);
    const corners = [[left, top], [left + w, top], [left + w, top + size * 0.84], [left, top + size * 0.84]];
    return { text, quad: corners.map(([x, y]) => [a * x + c * y + e, b * x + d * y + f]) };
  });
}

/** Whether two quadrilaterals share area: no line along a side of one has them apart. */
function meet(p, q) {
  for (const [one] of [[p], [q]]) {
    for (let i = 0; i < 4; i++) {
      const [x0, y0] = one[i], [x1, y1] = one[(i + 1) % 4];
      const along = ([x, y]) => (x - x0) * (y0 - y1) + (y - y0) * (x1 - x0);
      const range = (quad) => [Math.min(...quad.map(along)), Math.max(...quad.map(along))];
      const [a, b] = [range(p), range(q)];
      if (a[1] <= b[0] || b[1] <= a[0]) return false;
    }
  }
  return true;
}

/** The marks of an SVG, upright and level, as thin quadrilaterals. */
function lines(svg) {
  return [...svg.matchAll(/<path d="M([-\d.]+) ([-\d.]+)L([-\d.]+) ([-\d.]+)"[^>]*stroke="var\(--mw-muted\)"/g)].map(([, ...ends]) => {
    const [x0, y0, x1, y1] = ends.map(Number);
    return { upright: x0 === x1, quad: [[x0 - 0.5, y0 - 0.5], [x1 + 0.5, y0 - 0.5], [x1 + 0.5, y1 + 0.5], [x0 - 0.5, y1 + 0.5]] };
  });
}

/** What is wrong with the texts of a picture: two that overlap, one that is cut, or one that a mark crosses. */
function troubles(svg, width, height) {
  const all = texts(svg), marks = lines(svg);
  return all.flatMap((one, i) => [
    ...all.slice(i + 1).filter((other) => meet(one.quad, other.quad)).map((other) => `"${one.text}" lies on "${other.text}"`),
    ...marks.filter(({ quad }) => meet(one.quad, quad)).map(({ upright }) => `"${one.text}" is crossed by ${upright ? "an upright" : "a level"} line`),
    ...(one.quad.some(([x, y]) => x < -1 || x > width + 1 || y < -1 || y > height + 1) ? [`"${one.text}" is cut`] : []),
  ]);
}

describe("the places of texts", () => {
  for (const [name, own] of Object.entries(figures)) {
    test(`of ${name}: none overlaps another, is cut or crossed, or is hidden but where dots crowd, at any width`, () => {
      const labels = own.option.series.flatMap((s) => (s.type === "bar" ? [] : s.data.filter((d) => d[4]).map((d) => d[4].replace(/\s+/g, " "))));
      for (const width of [own.width, 560, 360].filter((w) => w <= own.width)) {
        const height = picture.heightAt(own.option, width, own);
        const svg = render(own.option, frame(name, width, height)), words = texts(svg).map(({ text }) => text).join(" ");
        assert.deepEqual(troubles(svg, width, height), [], `${width} pixels wide`);
        const hidden = labels.filter((label) => !words.includes(label));
        assert.ok(hidden.length <= (name.startsWith("crowd") ? 3 : 0), `${width} pixels wide: ${hidden}`);
      }
    });
  }

  test("that overlap, are cut or crossed are seen", () => {
    const text = (x, words, more = "") => `<text transform="translate(${x} 50)"${more}>${words}</text>`;
    assert.equal(troubles(text(10, "a long text") + text(30, "another"), 200, 100).length, 1);
    assert.equal(troubles(text(180, "a long text"), 200, 100).length, 1);
    assert.deepEqual(troubles(text(10, "short") + text(100, "another"), 200, 100), []);
    const mark = (x) => `<path d="M${x} 90L${x} 10" fill="none" stroke="var(--mw-muted)" stroke-dasharray="4,2"></path>`;
    assert.deepEqual(troubles(text(10, "short") + mark(20) + mark(60), 200, 100), ['"short" is crossed by an upright line']);
    assert.equal(troubles(text(50, "a long text") + '<text transform="matrix(0.7,-0.7,0.7,0.7,60,80)">a long text too</text>', 200, 100).length, 1);
  });

  test("do not depend on the fonts of whoever draws", () => {
    const first = render(options["upright-bars"], frame("b"));
    echarts.setPlatformAPI({ measureText: (text) => ({ width: 100 * text.length }) });
    assert.equal(render(options["upright-bars"], frame("b")), first);
  });

  test("at the ends of lines, or in a legend where those meet or there is no room", () => {
    const two = (last) => ({ ...line([]), series: [["one", 10], ["another", last]].map(([name, y]) => ({ type: "line", name, data: [[0, 0, "", ""], [1, y, "", ""]] })) });
    const how = (option, width) => charted(option, width, 420, (chart, placed) => [placed.map((p) => p.label.text).join("|"), chart.getOption().legend[0].show]);
    assert.deepEqual(how(two(4), 760), ["one|another", false]);
    assert.deepEqual(how(two(10), 760), ["", true]);
    assert.deepEqual(how(two(4), 360), ["", true]);
    assert.deepEqual(how({ ...two(4), mw: { ...two(4).mw, named: true } }, 760), ["", false]);
    const dots = two(4);
    dots.series[1].type = "scatter"; // a name beside a dot would look like one more
    assert.deepEqual(how(dots, 760), ["", true]);
  });

  test("are found by plain geometry", () => {
    const box = { x0: 10, y0: 10, x1: 20, y1: 20 };
    for (const [at, want] of [
      [[0, 15, 30, 15], 10], [[12, 15, 18, 15], 6], [[0, 5, 30, 5], 0], [[0, 15, 15, 15], 5], [[30, 15, 0, 15], 10],
      [[15, 15, 15, 15], 0], [[0, 25, 25, 0], 5 * Math.SQRT2], [[15, 100, 15, 200], 0], [[10, 0, 10, 30], 10],
    ]) assert.ok(Math.abs(place.crossing(box, at) - want) < 1e-9, `${at}`);
    assert.deepEqual(place.spread([10, 10, 50], 16, 0, 100), [2, 18, 50]);
    assert.deepEqual(place.spread([0, 0, 0], 10, 0, 100), [0, 10, 20]);
    assert.equal(place.wrap("one two three", 12, place.wide("one two", 12)), "one two\nthree");
    assert.equal(place.wrap("unbreakable word", 12, 1), "unbreakable\nword");
    const title = "Overlap gains most at the ridge point and never more than a factor of two";
    assert.equal(place.balanced(title, 12, place.wide(title, 12) - 1), "Overlap gains most at the ridge point\nand never more than a factor of two");
  });
});

describe("axes", () => {
  test("write their ticks in the units that pkg/internal/num gives", () => {
    const seconds = [[1e-12, " ps"], [1e-9, " ns"], [1e-6, " µs"], [1e-3, " ms"], [1, " s"]];
    const si = [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"], [1e12, "T"]], ki = [[1, " B"], [1024, " KiB"], [2 ** 20, " MiB"]];
    for (const [v, steps, want] of [
      [1e12, si, "1T"], [1000, si, "1k"], [500, si, "500"], [0.1, si, "0.1"], [2e7, si, "20M"], [0, si, "0"], [1e-8, si, "1e-8"], [-2e7, si, "-20M"],
      [4096, [], "4,096"], [1234567, [], "1,234,567"], [0.05, [], "0.05"], [0.30000000000000004, [], "0.3"],
      [65536, ki, "64 KiB"], [512, ki, "512 B"], [2 ** 20, ki, "1 MiB"], [0.001, seconds, "1 ms"], [0.0001, seconds, "100 µs"], [10, seconds, "10 s"], [0, seconds, "0 s"],
    ]) assert.equal(picture.tick(v, steps), want);
  });

  test("on a log scale have bounds and ticks that fit", () => {
    for (const [lo, hi, base, bars, bounds, labels, marks] of [
      [0.33, 2e5, 10, false, [0.1, 1e6], [0.1, 1, 10, 100, 1e3, 1e4, 1e5, 1e6]],
      [0.33, 1365, 10, false, [0.2, 2000], [1, 10, 100, 1000], 8],
      [15, 90, 10, false, [10, 100], [10, 20, 50, 100], 0],
      [10, 10, 10, false, [1, 100], [1, 2, 5, 10, 20, 50, 100]],
      [4, 128, 2, false, [4, 128], [4, 8, 16, 32, 64, 128], 0],
      [5, 100, 2, false, [4, 128], [4, 8, 16, 32, 64, 128], 0],
      [1.2, 50, 10, true, [0.1, 100], [0.1, 1, 10, 100]], // leaves the shortest bar some length
      [3, 50, 10, true, [1, 100], [1, 2, 5, 10, 20, 50, 100]],
    ]) {
      const got = picture.rounded(lo, hi, base, bars);
      assert.ok(got.every((v, i) => Math.abs(v / bounds[i] - 1) < 1e-9), `${lo} to ${hi}: ${got}`);
      const ticks = picture.logTicks(...bounds, base, 500);
      assert.deepEqual(ticks.labels, labels, `${lo} to ${hi}`);
      for (const v of labels) assert.ok(ticks.marks.includes(v));
      if (marks !== undefined) assert.equal(ticks.marks.filter((v) => v > labels[0] && v < labels[1]).length, marks);
    }
    const many = picture.logTicks(1e-9, 1e18, 10, 400).labels;
    assert.ok(many.length >= 4 && many.length <= 10, `${many}`);
  });

  test("have grid lines at labelled ticks alone", () => {
    const { xAxis } = picture.dress(line([[0.33, 1], [1365, 2]], { x: LOG }), 760, 420, true).option;
    const seen = xAxis.axisTick.customValues.filter((_, i) => xAxis.splitLine.lineStyle.color[i] !== "transparent");
    assert.deepEqual(seen, xAxis.axisLabel.customValues);
  });

  test("begin at zero where the data come near it", () => {
    const scale = (...ys) => picture.dress(line(ys.map((y, i) => [i, y])), 760, 420, true).option.yAxis.scale;
    assert.deepEqual([scale(1, 9), scale(280, 380), scale(-9, -1), scale(-1, 5)], [false, true, false, true]);
  });
});

const css = readFileSync(join(root, "pkg/internal/svg/palette.css"), "utf8");
const palette = [...css.matchAll(/--mw-([\w-]+): .*?light-dark\((#\w+), (#\w+)\)/g)];
const themes = Object.fromEntries(["light", "dark"].map((name, i) => {
  const of = Object.fromEntries(palette.map((m) => [m[1], m[2 + i]]));
  const list = (kind) => palette.filter((m) => m[1].startsWith(`${kind}-`)).map((m) => m[2 + i]);
  return [name, { ...of, series: list("series"), ink: list("ink") }];
}));

describe("the house style", () => {
  test("has every colour that a figure names", () => {
    for (const [name, { option, width, height }] of Object.entries(figures)) {
      for (const [, colour] of render(option, frame(name, width, height)).matchAll(/var\(--mw-([\w-]+)\)/g)) assert.ok(themes.light[colour], colour);
    }
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

  for (const [name, theme] of Object.entries(themes)) {
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

  for (const [name, theme] of Object.entries(themes)) {
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

  /** What tells two series of a figure apart in grey, or nothing. */
  function cue(option, placed, legend, a, b) {
    const words = placed.map(({ label, spot }) => (spot.text ?? label.text).replace(/\s+/g, " "));
    const direct = (one) => words.includes(one.name) || one.data.every((d) => d[4] && one.type === "scatter");
    // Roofs are named above their flat parts, or, of one machine, along their
    // slopes, without what they share.
    const along = (one) => words.some((word) => word.startsWith(`${one.name}, peak `)) || words.some((word) => /, [\d.]+ .?B\/s$/.test(word) && one.name.startsWith(word.replace(/, [^,]*$/, "")));
    const style = (one, key) => JSON.stringify(key(one) ?? null);
    if (a.type !== b.type) return "kind";
    if (style(a, (s) => s.lineStyle?.type ?? "solid") !== style(b, (s) => s.lineStyle?.type ?? "solid")) return "dashes";
    if (a.type === "bar") return style(a, (s) => s.itemStyle.decal) !== style(b, (s) => s.itemStyle.decal) && "hatching";
    if (direct(a) && direct(b)) return "names";
    if (along(a) && along(b)) return "names along the lines";
    const shape = (one) => (one.type === "scatter" || one.showSymbol ? one.symbol : undefined);
    return shape(a) && shape(b) && shape(a) !== shape(b) && "symbols";
  }

  test("tells series apart by more than their hue", () => {
    const found = new Set();
    for (const [name, { option, width, height }] of Object.entries(figures)) {
      charted(option, width, height, (chart, placed) => {
        const series = chart.getOption().series.filter((s) => !s.silent);
        series.forEach((a, i) => {
          for (const b of series.slice(i + 1)) {
            const what = cue(option, placed, false, a, b);
            assert.ok(what, `${name}: only the hue tells "${a.name}" from "${b.name}"`);
            found.add(what);
          }
        });
      });
    }
    for (const what of ["dashes", "hatching", "kind", "names", "names along the lines"]) assert.ok(found.has(what), what);
  });

  test("hatches the bars of a second series", () => {
    const svg = render(options["upright-bars"], frame("b"));
    assert.match(svg, /<pattern [^>]*id="b-p0"/);
    assert.ok(svg.split('fill="url(#b-p0)"').length > 3);
    assert.doesNotMatch(render(options["level-bars"], frame("b")), /<pattern/);
  });

  const tooltip = (option) => picture.dress(option, 760, 420, true).option.tooltip.formatter;

  test("says values with units in tooltips, in the words of pkg/lesson", () => {
    const show = tooltip(line([[1, 2]], { x: { name: "intensity" }, y: { name: "performance" } }));
    assert.equal(
      show([
        { value: [153.0161844, 312e12, "153.016 FLOP/byte", "312 TFLOP/s"], seriesName: "A100", marker: "*" },
        { value: [153.0161844, 1e12, "153.016 FLOP/byte", "1 TFLOP/s", "mine"], seriesName: "programs", marker: "*" },
      ]),
      "intensity: 153.016 FLOP/byte<br>*A100: <b>312 TFLOP/s</b><br>*mine: <b>1 TFLOP/s</b>",
    );
    assert.equal(show({ value: [1, 2e12, "1 FLOP/byte", "2 TFLOP/s"], seriesName: "", marker: "" }), "intensity: 1 FLOP/byte<br>performance: <b>2 TFLOP/s</b>");
    assert.equal(show([]), "");
  });

  test("says the category and the length of a bar", () => {
    const level = tooltip(options["level-bars"]);
    assert.equal(level([{ name: "naive\ntraffic", value: [0.13483, 1, "134.8 ms", "naive traffic", "306 times"], seriesName: "", marker: "" }]), "naive traffic<br>least time: <b>134.8 ms</b>");
    const upright = tooltip(options["upright-bars"]);
    assert.equal(upright([{ name: "math", value: [0, 0.00044051, "math", "440.5 µs"], seriesName: "floor", marker: "" }]), "math<br>floor: <b>440.5 µs</b>");
  });

  test("lets no name into the page as markup", () => {
    const show = tooltip(line([[1, 2]], { x: { name: "<i>x</i>" }, y: { name: "y" } }));
    const html = show([{ value: [1, 2, "<u>", "&", "<img onerror=1>"], seriesName: "</b><script>", marker: "" }]);
    assert.doesNotMatch(html, /<(i|u|script|img)/);
  });
});

const renderer = join(here, "render.mjs");

describe("the command", () => {
  test("says what is wrong in one line, and ends with 2", () => {
    for (const [args, want] of [
      [[], /^render: --folder is missing: it must be the folder to watch\n$/],
      [["--nonsense"], /^render: Unknown option '--nonsense'/],
      [["--folder", "/tmp", "--parent", "x"], /^render: --parent is x: it must be a process id\n$/],
    ]) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [renderer, ...args], { encoding: "utf8" });
      assert.equal(status, 2);
      assert.equal(stdout, "");
      assert.match(stderr, want);
    }
  });
});

const until = async (what, condition) => {
  for (let i = 0; i < 400; i++) {
    if (condition()) return;
    await new Promise((r) => setTimeout(r, 25));
  }
  assert.fail(`${what}: waited ten seconds`);
};

describe("the renderer of a kernel", () => {
  let folder, child, parent, ended;

  /** Hands a file over and returns what comes back. */
  const ask = async (name, text) => {
    writeFileSync(join(folder, `${name}.new`), text);
    execFileSync("mv", [join(folder, `${name}.new`), join(folder, `${name}.json`)]);
    await until(name, () => existsSync(join(folder, `${name}.svg`)));
    const svg = readFileSync(join(folder, `${name}.svg`), "utf8");
    rmSync(join(folder, `${name}.svg`));
    return svg;
  };

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "mw"));
    parent = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    child = spawn(process.execPath, [renderer, "--folder", folder, "--parent", String(parent.pid)], { stdio: "ignore" });
    ended = new Promise((done) => child.on("exit", (code, signal) => done({ code, signal })));
  });

  after(() => {
    child.kill("SIGKILL");
    parent.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });

  test("draws the same pictures, also many at once, and what came before it", async () => {
    const names = Object.keys(figures).slice(0, 16);
    const answers = await Promise.all(names.map((n) => ask(n, JSON.stringify({ ...frame(n), option: options[n] }))));
    answers.forEach((svg, i) => assert.equal(svg, render(options[names[i]], frame(names[i]))));
  });

  test("gives nothing for what cannot be drawn, and lives on", async () => {
    for (const text of ["{", "[]", '{"width":0,"height":1,"option":{}}', '{"width":10,"height":10,"option":[]}', '{"width":10,"height":10,"option":{}}']) {
      assert.equal(await ask("bad", text), "");
    }
    assert.match(await ask("line", JSON.stringify({ ...frame("line"), option: options.line })), /^<svg /);
  });

  test("ignores the interrupt of a cell, and ends with its parent", async () => {
    child.kill("SIGINT");
    await new Promise((r) => setTimeout(r, 200));
    assert.match(await ask("line", JSON.stringify({ ...frame("line"), option: options.line })), /^<svg /);
    parent.kill("SIGKILL");
    assert.deepEqual(await ended, { code: 0, signal: null });
    assert.deepEqual(readdirSync(folder), []);
  });
});
