// A figure in the house style, for pages (figure.js) and for static pictures
// (render.mjs): both show the same.
//
// pkg/lesson hands over an option of ECharts with the axes, the series and their
// data. What is said of all figures alike is said here: colours, sizes, where
// names and legends go. ECharts lays the figure out; the direct labels are then
// placed in the plot that it made (place.js). A datum is [x, y, its x in words, its
// y in words, its label]; what ECharts has no place for is in the option's mw:
//
//	x, y         {steps}: units of the ticks, [times, unit], least first
//	named        text along the lines names the series
//	plain        lines have no dots
//	low          labels of upright marks stand at the bottom
//	along        [{from, to, text, series}]: text on the upper side of a line
//	asides       [{at, text, side}]: quiet text beside a place
(function (root) {
  "use strict";
  const { wide, wrap, balanced, lines, place, around, spread, LINE_HEIGHT } =
    (root.memorywall && root.memorywall.place) || require("./place.js");

  const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
  const TITLE = 15, TEXT = 12, MARGIN = 10, DOT = 4.5, BOLD = 1.14;
  const CLEAR = 1.2; // of a dot on a log axis, from its end
  const GAP = 14, KEY = 25, LEGEND = 16 + GAP; // between items of a legend, the width of a mark in it, and the height of a row
  const NARROW = 520; // pixels; below, names of lines stand in a legend
  // As paths, since ECharts stretches its own symbols in a legend.
  const SYMBOLS = ["circle", ...["M0,-1L1,0L0,1L-1,0Z", "M0,-1L1,1H-1Z", "M-1,-1H1V1H-1Z", "M-1,-0.3H-0.3V-1H0.3V-0.3H1V0.3H0.3V1H-0.3V0.3H-1Z", "M-1,-1H1L0,1Z"].map((d) => `path://${d}`)];
  const DASHES = [[KEY, 0], [8, 4], [2, 3], [12, 3, 2, 3]]; // pixels drawn and left out
  const HATCHES = [-Math.PI / 4, Math.PI / 4, 0, Math.PI / 2];
  const color = (name) => `var(--mw-${name})`;
  const hue = (i) => color(`series-${i % 7}`);
  const ink = (i) => color(`ink-${i % 7}`);
  const style = (name, size = TEXT) => ({ color: color(name), fontFamily: FONT, fontSize: size });

  // --- texts -----------------------------------------------------------------

  /** A tick in the largest unit of steps that is not above it: "10G", "64 KiB". */
  function tick(v, steps) {
    const one = steps.find(([times]) => times === 1) ?? [1, ""];
    const [times, unit] = v === 0 ? one : steps.filter(([t]) => t <= Math.abs(v) * (1 + 1e-9)).at(-1) ?? steps[0] ?? one;
    return plain(v / times) + unit;
  }

  function plain(v) {
    const [digits, power] = String(Number.isInteger(v) ? v : Number(v.toPrecision(6))).split("e");
    return digits.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ",")) + (power ? `e${Number(power)}` : "");
  }

  const escaped = (s) => String(s).replace(/\s+/g, " ").replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

  function tooltip(x, y) {
    return (params) => {
      const list = [].concat(params).filter((p) => Array.isArray(p.value));
      if (list.length === 0) return "";
      const value = x.type === "category" || y.type !== "category" ? 3 : 2;
      const bars = x.type === "category" || y.type === "category";
      const head = bars ? escaped(list[0].name) : `${escaped(x.name)}: ${escaped(list[0].value[2])}`;
      return [head, ...list.map((p) => {
        // What stands at a bar is its value; what stands at a dot is its name.
        const name = (!bars && p.value[4]) || p.seriesName || (value === 3 ? y : x).name;
        return `${p.marker}${escaped(name)}: <b>${escaped(p.value[value])}</b>`;
      })].join("<br>");
    };
  }

  // --- axes ------------------------------------------------------------------

  /** The range of a figure's data and marks along axis 0 or 1. */
  function extent(option, axis) {
    const values = option.series.flatMap((s) => [
      ...s.data.map((d) => d[axis]),
      ...(s.markLine?.data ?? []).map((m) => m[axis === 0 ? "xAxis" : "yAxis"]),
    ]).filter((v) => typeof v === "number");
    return [Math.min(...values), Math.max(...values)];
  }

  /** A number without the last bit of a power or a quotient, in which engines differ: a tick at the end of an axis is not outside it. */
  const exact = (v) => Number(v.toPrecision(15));

  /** A round step that divides a range into about so many parts; ECharts would cut the last one short. */
  function even(range, parts) {
    const power = 10 ** Math.floor(Math.log10(range / parts));
    const steps = [0.5, 1, 2, 5, 10, 20].map((m) => m * power).filter((step) => Math.abs(range / step - Math.round(range / step)) < 1e-9);
    return steps.sort((a, b) => Math.abs(Math.log(range / a / parts)) - Math.abs(Math.log(range / b / parts)))[0];
  }

  /** Bounds of a log axis around lo to hi: powers of the base, or 1, 2 and 5 times one where that would leave much of a short axis empty. */
  function rounded(lo, hi, base, bars) {
    const log = (v) => Math.log(v) / Math.log(base);
    const down = (v) => base ** Math.floor(log(v) + 1e-9), up = (v) => base ** Math.ceil(log(v) - 1e-9);
    if (base === 10 && !bars && log(hi / lo) < 4) {
      const low = [5, 2, 1].map((m) => m * down(lo)).find((v) => v <= lo * (1 + 1e-9));
      const high = [5, 2, 1].map((m) => up(hi) / m).find((v) => v >= hi * (1 - 1e-9));
      if (low < high) return [low, high];
    }
    let [low, high] = [down(lo), up(hi)];
    if (bars && lo < low * 1.5) low /= base; // leave the shortest bar some length
    return low < high ? [low, high] : [low / base, high * base];
  }

  /**
   * Ticks of a log axis: at powers of the base, as many as there is room for; a
   * decade or two get 2 and 5 as well, where those stand so many pixels apart,
   * and up to six get marks at every digit.
   * (ECharts has ticks at powers alone, and labels the ends of an axis whatever
   * they are.)
   */
  function logTicks(lo, hi, base, length, apart = 0) {
    const log = (v) => Math.log(v) / Math.log(base);
    const first = Math.ceil(log(lo) - 1e-9), last = Math.floor(log(hi) + 1e-9);
    const stride = Math.max(1, Math.ceil((last - first + 1) / Math.max(2, Math.floor(length / 46))));
    const fine = base === 10 && stride === 1;
    const inside = (v) => v >= lo * (1 - 1e-9) && v <= hi * (1 + 1e-9);
    const at = (digits) => {
      const out = [];
      for (let k = first - 1; k <= last; k++) {
        if ((k - first) % stride === 0) out.push(...digits.map((d) => exact(d * base ** k)).filter(inside));
      }
      return out;
    };
    const labels = at(fine && log(hi / lo) < 2.01 && length > 230 && log(2) * length / log(hi / lo) > apart ? [1, 2, 5] : [1]);
    return { labels, marks: fine && last - first <= 6 ? at([1, 2, 3, 4, 5, 6, 7, 8, 9]) : labels };
  }

  function axis(option, which, length, { bars, headroom, above = 0 }) {
    const given = option[which], upright = which === "yAxis";
    const out = {
      ...given,
      axisLine: { show: true, onZero: false, lineStyle: { color: color("axis") } },
      axisTick: { show: given.type !== "category", length: 4, lineStyle: { color: color("axis") } },
      axisLabel: { ...style("muted"), hideOverlap: false, margin: 8 },
      splitLine: { show: given.type !== "category", lineStyle: { color: color("grid"), width: 1 } },
      nameTextStyle: { ...style("muted"), align: upright ? "left" : "center" },
      nameLocation: !upright ? "middle" : given.inverse ? "start" : "end", // on top
      nameGap: upright ? 12 : 28,
    };
    const steps = option.mw[upright ? "y" : "x"].steps;
    if (given.type === "category") {
      const room = above > 0 ? length - 2 * MARGIN : upright ? length * 0.34 : length / given.data.length - 6;
      Object.assign(out.axisLabel, { interval: 0, lineHeight: 16, formatter: (name) => wrap(name, TEXT, room) });
      if (above > 0) Object.assign(out.axisLabel, { inside: true, margin: 2, verticalAlign: "bottom", padding: [0, 0, above, 0] });
      return out;
    }
    Object.assign(out.axisLabel, { formatter: (v) => tick(v, steps), hideOverlap: true });
    let [lo, hi] = extent(option, upright ? 1 : 0);
    const share = headroom / Math.max(length, 100); // of the axis, for text above what is highest
    if (given.type === "value") {
      out.splitNumber = Math.max(2, Math.round(length / (upright ? 50 : 90)));
      out.axisLabel.hideOverlap = !upright; // beside long names of bars there may be room for two numbers only
      out.scale = !bars && !(lo >= 0 && lo < hi / 2) && !(hi <= 0 && hi > lo / 2);
      if (given.min !== undefined && given.max !== undefined) out.interval = even(given.max - given.min, out.splitNumber);
      if (given.max === undefined && share > 0 && hi > lo) out.reach = hi + share * (hi - (out.scale ? lo : Math.min(lo, 0)));
      return out;
    }
    const base = given.logBase;
    for (const s of option.series.filter((one) => one.type === "scatter" && one.data.length > 0)) { // dots stand clear of the ends
      const values = s.data.map((d) => d[upright ? 1 : 0]);
      [lo, hi] = [Math.min(lo, Math.min(...values) / CLEAR), Math.max(hi, Math.min(Math.max(...values) * CLEAR, 1e300))];
    }
    if (share > 0) hi = Math.min(hi * Math.max(hi / lo, 2) ** share, 1e300);
    [lo, hi] = rounded(lo, hi, base, bars);
    out.min = given.min ?? exact(Math.min(lo, (given.max ?? Infinity) / base));
    out.max = given.max ?? exact(Math.max(hi, out.min * base));
    out.startValue = out.min; // of bars
    const { labels, marks } = logTicks(out.min, out.max, base, length, upright ? 0 : 3.5 * TEXT);
    // ECharts compares ticks with powers of its own, which in some engines lie one bit inside.
    [out.min, out.max] = [out.min * (1 - 1e-12), out.max * (1 + 1e-12)];
    out.axisLabel.customValues = labels;
    out.axisTick.customValues = marks;
    // ECharts puts a grid line at each mark. Only those at labels show.
    out.splitLine.lineStyle.color = marks.map((v) => (labels.includes(v) ? color("grid") : "transparent"));
    return out;
  }

  // --- series ----------------------------------------------------------------

  const labelled = (s) => s.type === "scatter" && s.data.every((d) => d[4]);
  const carrier = (s) => s.silent === true; // of marks

  /** Whether the points of a line are shown as dots, which those of few are. */
  const dotted = (s, option) => s.data.length <= 24 && !option.mw.plain && !s.step;

  const level = (a) => a.from[1] === a.to[1];

  /** How the series are told apart: names at the ends of lines or along them, a legend [{name, text, icon}], or neither. */
  function naming(option, width, near) {
    const { named, along } = option.mw, drawn = option.series.filter((s) => !carrier(s));
    const list = drawn.filter((s) => s.name && (named ? s.type === "line" : !labelled(s)));
    const direct = { ends: [], along, legend: [] };
    const beside = near && width >= NARROW;
    if (drawn.length < 2 || list.length < 2 || (named && beside)) return direct;
    if (beside && list.length <= 8 && list.every((s) => s.type === "line") && option.xAxis.type !== "category") return { ...direct, ends: list };
    // A roof that several lines have stays named where it is.
    const moved = named ? along.filter((a) => !level(a) || along.filter(level).length > 1) : [];
    const texts = (s) => moved.filter((a) => option.series[a.series] === s).map((a) => a.text);
    return {
      ...direct, along: along.filter((a) => !moved.includes(a)),
      legend: list.map((s) => ({ name: s.name, text: balanced(texts(s).join(", ") || s.name, TEXT, width - 2 * MARGIN - KEY - 5), icon: lineKey(s, option) })),
    };
  }

  /** The dashes of a line: the roofs of a legend are told apart by them. */
  const dashes = (s, option) => DASHES[s.lineStyle?.type === "dashed" ? 1 : option.mw.named ? option.series.indexOf(s) % DASHES.length : 0];

  /** The mark in a legend of a line without dots; that of others is ECharts' own. */
  function lineKey(s, option) {
    if (s.type !== "line" || dotted(s, option)) return undefined;
    let path = "path://";
    const pattern = dashes(s, option);
    for (let x = 0, i = 0; x < KEY; x += pattern[i++ % pattern.length]) {
      if (i % 2 === 0) path += `M${x},0H${Math.min(KEY, x + pattern[i % pattern.length])}V2H${x}Z`;
    }
    return path;
  }

  /** A text for the end of a bar: in one line, broken at spaces, or none where a word is too wide too. */
  function fitting(text, room) {
    if (wide(text, TEXT) <= room) return text;
    const broken = [room, 0].map((w) => wrap(text, TEXT, w)).find((t) => wide(t, TEXT) <= room);
    return broken ?? "";
  }

  /** How high an upright mark goes: to the corner of the roof whose ridge it marks, or all the way. */
  function topOf(mark, option) {
    const at = (s) => (option.mw.low && s.type === "line" ? s.data.filter((d) => d[0] === mark.xAxis).map((d) => d[1]) : []);
    return Math.max(...option.series.flatMap(at));
  }

  function dressed(s, i, option, { room, across, floor, thick, legend }) {
    const c = hue(i), shape = SYMBOLS[i % SYMBOLS.length];
    const out = { ...s, itemStyle: { color: c, opacity: 1 }, emphasis: { itemStyle: { color: c }, lineStyle: { color: c, width: 2 } } };
    if (carrier(s)) {
      const line = { color: color("muted"), width: 1, type: "dashed" };
      const ended = (m) => (topOf(m, option) > 0 ? [{ coord: [m.xAxis, floor], name: m.name }, { coord: [m.xAxis, topOf(m, option)] }] : m);
      return {
        ...out, itemStyle: { color: "transparent" }, symbolSize: 0, tooltip: { show: false }, z: 5,
        // ECharts would round marks to two decimals.
        markLine: s.markLine && { ...s.markLine, data: s.markLine.data.map(ended), precision: -1, silent: true, animation: false, symbol: ["none", "none"], label: { show: false }, lineStyle: line },
        markArea: s.markArea && { ...s.markArea, silent: true, animation: false, itemStyle: { color: color("shade") } },
      };
    }
    if (s.type === "bar") {
      const before = option.series.slice(0, i).filter((other) => other.type === "bar").length;
      const many = option.series.reduce((sum, other) => sum + (other.type === "bar" ? other.data.length : 0), 0) > 16;
      if (before > 0) {
        out.itemStyle.decal = { symbol: "rect", symbolSize: 1, color: color("hatch"), rotation: HATCHES[(before - 1) % 4], dashArrayX: [1, 0], dashArrayY: [3, 4] };
      }
      return {
        ...out, z: 2, barMaxWidth: across ? thick : 72, barCategoryGap: "30%", emphasis: { itemStyle: out.itemStyle },
        label: { show: true, position: across ? "right" : "top", ...style("text"), formatter: (p) => fitting(p.value[4] || (many ? "" : p.value[across ? 2 : 3]), room) },
      };
    }
    if (s.type === "scatter") return { ...out, z: 4, symbol: shape, symbolSize: s.data.length > 300 ? DOT : 2 * DOT };
    // Few points are shown as dots; of many, those with a label.
    const all = dotted(s, option);
    const some = s.data.some((d) => d[4]);
    return {
      ...out, z: 3, lineStyle: { color: c, width: 2, ...s.lineStyle, ...(legend && option.mw.named && { type: dashes(s, option) }) }, showSymbol: all || some, showAllSymbol: true, symbolSize: 2 * DOT,
      symbol: all || !some ? shape : (v) => (v[4] ? shape : "none"),
    };
  }

  // --- the whole -------------------------------------------------------------

  /** The height of a legend. */
  function legendHeight(legend, width) {
    const rows = [];
    let x = Infinity;
    for (const { text } of legend) {
      const w = wide(text, TEXT) + KEY + 5;
      if (x + w + GAP > width) [x] = [0, rows.push(0)];
      rows[rows.length - 1] = Math.max(rows.at(-1), LEGEND + (lines(text) - 1) * 16);
      x += w + GAP;
    }
    return rows.reduce((sum, row) => sum + row, 0);
  }

  const titleOf = (option, width) => (option.title.text ? balanced(option.title.text, TITLE * BOLD, width - 2 * MARGIN) : "");

  /** The option as ECharts draws it in so many pixels, without the direct labels. */
  function dress(option, width, height, near) {
    const names = naming(option, width, near);
    const title = titleOf(option, width);
    let top = MARGIN + (title ? lines(title) * 20 + 8 : 0);
    const legendTop = top;
    top += legendHeight(names.legend, width - 2 * MARGIN);
    if (!option.yAxis.name) top += 8;
    const across = option.yAxis.type === "category";
    const bars = option.series.some((s) => s.type === "bar");
    const barRoom = width * (width < NARROW ? 0.27 : 0.5);
    const barText = across ? option.series.flatMap((s) => (s.type === "bar" ? s.data.map((d) => wrap(d[4] || d[2], TEXT, barRoom)) : [])) : [];
    const right = Math.max(18, ...names.ends.map((s) => wide(wrap(s.name, TEXT, width * 0.21), TEXT) + 14), ...barText.map((t) => wide(t, TEXT) + 14));
    const wordy = option.mw.along.length > 0 || option.series.some((s) => (s.type !== "bar" && s.data.some((d) => d[4])) || s.markLine?.data.some((m) => m.yAxis !== undefined && m.name));
    const w = width - 60 - right, h = height - top - 50;
    const x = axis(option, "xAxis", w, { bars: bars && across, headroom: 0 });
    // On a narrow page level bars take its width, and have their names above them.
    const thick = Math.min(34, across ? h / option.yAxis.data.length - 36 : 0), above = across && width < NARROW && thick >= 8 ? thick / 2 + 2 : 0;
    const y = axis(option, "yAxis", across ? width : h, { bars: bars && !across, headroom: wordy && !across ? 2 * 16 : 0, above });
    const upright = option.series.filter((s) => s.type === "bar").length;
    const room = across ? barRoom : upright === 1 ? w / option.series[0].data.length - 6 : Math.min(72, w / (option.xAxis.data?.length ?? 1) * 0.7 / upright);
    const series = option.series.map((s, i) => dressed(s, i, option, { room, across, floor: y.min, thick: above > 0 ? thick : 34, legend: names.legend.length > 0 }));
    // The axes reach the marks too, and leave room for text above what is highest.
    const reached = series.find(carrier);
    const first = option.series[0].data[0];
    if (reached) {
      reached.data = [
        ...(reached.markLine?.data ?? []).filter((m) => !Array.isArray(m)).map((m) => [m.xAxis ?? first[0], m.yAxis ?? first[1]]),
        ...(y.reach === undefined ? [] : [[first[0], y.reach]]),
      ];
    }
    const item = option.series.every((s) => s.type === "scatter");
    return {
      names,
      option: {
        animation: false,
        aria: option.aria,
        textStyle: style("text"),
        title: { text: title, left: MARGIN, top: MARGIN, padding: 0, textStyle: { ...style("text", TITLE), fontWeight: "bold", lineHeight: 20 } },
        legend: names.legend.length === 0 ? { show: false } : {
          show: true, data: names.legend.map(({ name, icon }) => ({ name, icon })), formatter: (name) => names.legend.find((one) => one.name === name).text,
          left: MARGIN, top: legendTop, padding: 0, itemGap: GAP, itemWidth: KEY, itemHeight: 10, textStyle: { ...style("text"), lineHeight: 16 },
          inactiveColor: color("muted"), width: width - 2 * MARGIN,
        },
        grid: { left: MARGIN, right, top, bottom: 8, outerBoundsMode: "same", outerBoundsContain: "all" },
        xAxis: x, yAxis: y,
        tooltip: {
          trigger: item ? "item" : "axis", formatter: tooltip(option.xAxis, option.yAxis), confine: true,
          backgroundColor: color("tip"), borderColor: color("axis"), textStyle: style("text"),
          axisPointer: { type: bars ? "shadow" : "line", snap: true },
        },
        series,
      },
    };
  }

  /** Labels of a figure that ECharts has laid out in the plot {x, y, width, height}. */
  function labelsOf(option, names, chart, plot, width) {
    const x1 = plot.x + plot.width, y1 = plot.y + plot.height;
    const category = option.xAxis.type === "category" || option.yAxis.type === "category";
    const at = (x, y) => chart.convertToPixel({ gridIndex: 0 }, [x, y]).map((v) => Math.max(-1e6, Math.min(v, 1e6)));
    const scene = { size: TEXT, frame: { x0: plot.x + 2, y0: plot.y - 4, x1: width - 2, y1: y1 - 2 }, dots: [], lines: [] };
    const labels = [], drawn = option.series.filter((s) => !carrier(s) && s.type !== "bar");
    for (const s of drawn) {
      let before;
      const dots = s.type === "scatter" || dotted(s, option);
      for (const d of s.data) {
        const [x, y] = at(d[0], d[1]);
        if (dots || d[4]) scene.dots.push({ x0: x - DOT, y0: y - DOT, x1: x + DOT, y1: y + DOT });
        if (before && s.step) scene.lines.push([...before, x, before[1]], [x, before[1], x, y]);
        else if (before && s.type === "line") scene.lines.push([...before, x, y]);
        before = [x, y];
      }
    }
    const marks = option.series.filter(carrier).flatMap((s) => s.markLine?.data ?? []);
    for (const m of marks) {
      if (Array.isArray(m)) scene.lines.push([...at(...m[0].coord), ...at(...m[1].coord)]);
      else if (m.xAxis !== undefined) scene.lines.push([at(m.xAxis, 1)[0], topOf(m, option) > 0 ? at(1, topOf(m, option))[1] : plot.y, at(m.xAxis, 1)[0], y1]);
      else scene.lines.push([plot.x, at(1, m.yAxis)[1], x1, at(1, m.yAxis)[1]]);
    }
    // Names beside the ends of lines, moved apart.
    const ends = names.ends.map((s) => {
      const [x, y] = at(...s.data.at(-1));
      return { text: wrap(s.name, TEXT, width * 0.21), x: Math.min(x, x1), y: Math.max(plot.y, Math.min(y, y1)), color: ink(option.series.indexOf(s)), must: true };
    });
    const tall = Math.max(1, ...ends.map((e) => lines(e.text))) * TEXT * LINE_HEIGHT;
    const crowded = ends.some((a, i) => ends.slice(i + 1).some((b) => Math.abs(a.y - b.y) < TEXT / 2));
    spread(ends.map((e) => e.y), tall, plot.y - tall / 2, y1 - tall / 2 + 4).forEach((y, i) => {
      labels.push({ ...ends[i], spots: [{ dx: 8, dy: y - ends[i].y, align: "left" }] });
    });
    for (const a of names.along) labels.push(alongLabel(a, at(...a.from), at(...a.to)));
    option.series.forEach((s, i) => {
      if (!drawn.includes(s)) return;
      for (const d of s.data.filter((one) => one[4])) {
        const [x, y] = at(d[0], d[1]);
        const text = wrap(d[4], TEXT, width * 0.3), high = wrap(d[4], TEXT, wide(d[4], TEXT) / 2);
        const spots = [text, high].flatMap((one) => around(DOT, TEXT, lines(one)).map((spot) => ({ ...spot, text: one })));
        labels.push({ text, x, y, color: ink(i), spots, dot: DOT });
      }
    });
    for (const a of option.mw.asides) {
      const [x, y] = at(...a.at), dx = a.side === "left" ? -8 : 8, align = a.side === "left" ? "right" : "left";
      labels.push({ text: a.text, x, y, color: color("muted"), clear: true, spots: [12, 28, 44, 60, 76].map((dy) => ({ dx, dy: -dy, align })) });
    }
    for (const m of marks.filter((one) => one.name)) {
      const text = wrap(m.name, TEXT, width * 0.3), half = lines(text) * TEXT * LINE_HEIGHT / 2;
      const spots = [];
      if (m.xAxis !== undefined) {
        const x = at(m.xAxis, 1)[0];
        for (let dy = half + 2; dy < plot.height - half; dy += half) {
          const down = option.mw.low ? plot.height - dy - 4 : dy;
          spots.push({ dx: 6, dy: down, align: "left" }, { dx: -6, dy: down, align: "right" });
        }
        // Where uprights crowd, turned as they are, at either end.
        const turned = wide(m.name, TEXT) / 2 + 4, ends = [turned, plot.height - turned];
        spots.splice(8, 0, ...(option.mw.low ? ends.reverse() : ends).flatMap((dy) => [9, -9].map((dx) => ({ dx, dy, align: "center", text: m.name, rotate: Math.PI / 2 }))));
        labels.push({ text, x, y: plot.y, color: color("muted"), spots });
      } else {
        for (let dx = 4; dx < plot.width * 0.9; dx += 24) spots.push(...[-half - 2, half + 2].map((dy) => ({ dx: -dx, dy, align: "right" })));
        labels.push({ text, x: x1, y: at(1, m.yAxis)[1], color: color("muted"), spots });
      }
    }
    const placed = place(labels, scene);
    const bad = names.along.some((a) => !placed.some((one) => one.label.along === a && !one.crossed));
    return { placed, crowded: !category && (crowded || bad) };
  }

  /** Text on the upper side of a straight line rather than the lower, turned as it is; on a level line at its right end. */
  function alongLabel(a, [x0, y0], [x1, y1]) {
    const label = { along: a, text: a.text, color: ink(a.series), x: (x0 + x1) / 2, y: (y0 + y1) / 2 };
    if (Math.abs(y0 - y1) < 1) {
      const folded = a.text.replace(/, (?=[^,]*$)/, ",\n");
      const spots = (text) => [1, -1].flatMap((up) => [4, 28, 52, 76, 100].map((dx) => ({ dx: -dx, dy: -up * (lines(text) * TEXT * LINE_HEIGHT / 2 + 4), align: "right", text })));
      return { ...label, x: x1, spots: wide(a.text, TEXT) < x1 - x0 - 4 ? [...spots(a.text), ...spots(folded)] : [...spots(folded), ...spots(a.text)] };
    }
    const angle = Math.atan2(y0 - y1, x1 - x0), off = 0.9 * TEXT;
    const spots = [0.5, 0.4, 0.6, 0.3, 0.7, 0.8, 0.2].flatMap((t) => [1, -1].map((side) => ({
      dx: (t - 0.5) * (x1 - x0) - side * Math.sin(angle) * off, dy: (t - 0.5) * (y1 - y0) - side * Math.cos(angle) * off, align: "center",
    })));
    return { ...label, rotate: angle, spots };
  }

  function elements({ label, spot, leader }) {
    const [x1, y1, x2, y2] = leader ?? [];
    return [...(leader ? [{ type: "line", silent: true, z: 99, shape: { x1, y1, x2, y2 }, style: { stroke: label.color, lineWidth: 0.75 } }] : []), {
      type: "text", silent: true, z: 100, x: label.x + spot.dx, y: label.y + spot.dy, rotation: spot.rotate ?? label.rotate ?? 0,
      style: {
        text: spot.text ?? label.text, fill: label.color, stroke: color("paper"), lineWidth: 3, fontSize: TEXT, fontFamily: FONT,
        align: label.rotate ?? spot.rotate ? "center" : spot.align, verticalAlign: "middle", lineHeight: Math.round(TEXT * LINE_HEIGHT),
      },
    }];
  }

  /**
   * Draws a figure into a chart of ECharts.
   *
   * @param {object} chart from echarts.init, of the given size
   * @param {object} option as pkg/lesson writes it
   * @returns {object[]} the direct labels: {label, spot, boxes}
   */
  function draw(chart, option, width, height) {
    for (const near of [true, false]) {
      const { option: full, names } = dress(option, width, height, near);
      chart.setOption(full, { notMerge: true });
      const plot = chart.getModel().getComponent("grid").coordinateSystem.getRect();
      const { placed, crowded } = labelsOf(option, names, chart, plot, width);
      if (crowded && near) continue; // names would not stand clear beside their lines: a legend tells which is whose
      chart.setOption({ graphic: { elements: placed.flatMap(elements) } });
      return placed;
    }
    return [];
  }

  /** How high the figure is at a width: as at its own, and the lines that its title and legend take more. */
  function heightAt(option, width, own) {
    if (width >= own.width) return own.height;
    const extra = (w) => lines(titleOf(option, w)) * 20 + legendHeight(naming(option, w, true).legend, w - 2 * MARGIN);
    return own.height + Math.max(0, extra(width) - extra(own.width));
  }

  /** Takes what does not show, and what only ECharts' scripts use, out of an SVG of ECharts, and says the font once. */
  function tidy(svg) {
    const font = /font-family:([^;"]*)/.exec(svg)?.[1];
    return svg
      .replace(/<path [^>]*><\/path>\n?/g, (path) => {
        const filled = !/ fill="(none|transparent)"/.test(path) && !/ fill-opacity="0"/.test(path);
        const drawn = / stroke="(?!none|transparent)/.test(path) && !/ stroke-width="0"/.test(path);
        return filled || drawn ? path : "";
      })
      .replace(/<[^>]*>/g, (tag) => tag
        .replace(/ ecmeta_[a-z_]+="[^"]*"/g, "")
        .replace(/ pointer-events="[^"]*"/g, "")
        .replace(`font-family:${font};`, ""))
      .replace(/ xml:space="preserve"/g, "")
      .replace(/<svg /, font ? `<svg font-family="${font}" ` : "<svg ");
  }

  /** ECharts measures text with this. In a page it would ask for the reader's fonts, and the chart would not be the picture. */
  function measureText(text, font) {
    const size = parseFloat(/([\d.]+)px/.exec(font)?.[1] ?? TEXT);
    return { width: wide(text, size) * (/bold/.test(font) ? BOLD : 1) };
  }

  /**
   * The figure as a picture of itself, on paper of its own; colours are variables
   * of palette.css. The same input gives the same bytes.
   *
   * @param {{width: number, height: number, id: string, selected?: object}} frame
   *   pixels, what the ids inside start with, and which series a reader has chosen
   */
  function svg(echarts, option, frame) {
    echarts.setPlatformAPI({ measureText });
    const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width: frame.width, height: frame.height });
    try {
      const painter = chart.getZr().painter;
      painter._id = frame.id; // ids come from a counter of the process otherwise
      draw(chart, option, frame.width, frame.height);
      chart.setOption({ backgroundColor: color("paper"), ...(frame.selected && { legend: { selected: frame.selected } }) });
      return `${tidy(painter.renderToString({ cssAnimation: false, cssEmphasis: false, useViewBox: true }))}\n`;
    } finally {
      chart.dispose();
    }
  }

  const kit = { draw, svg, tidy, tick, heightAt, measureText, logTicks, rounded, dress };
  root.memorywall = Object.assign(root.memorywall || {}, { picture: kit });
  if (typeof module === "object" && module.exports) module.exports = kit;
})(typeof window !== "undefined" ? window : globalThis);
