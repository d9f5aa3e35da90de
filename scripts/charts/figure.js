// The house style of every figure, in one place: colours, number formats and
// the tooltip. A page loads this file and calls memorywall.show; render.mjs
// requires it to draw the static pictures. So both show the same figure.
//
// A figure travels as an option object of ECharts in JSON, which has no
// functions and no theme. Where the option needs one it holds a name, a string
// that starts with "mw:", and prepare puts the function or the colour there:
//
//	formatter   mw:tick:si, mw:tick:num, mw:tick:ki, mw:tick:s   labels of ticks
//	            mw:text      the text of the item itself
//	            mw:tooltip   names and values with units
//	colours     mw:series:N, mw:ink:N (for text beside series N), and
//	            mw:colour:NAME with a name out of themes, such as "muted"
(function (root) {
  "use strict";

  // The colours of Okabe and Ito, which readers with any colour vision can tell
  // apart, lightest last. Text needs more contrast than an area or a line, so
  // each has an ink of its own hue. Dark pages get lighter steps.
  var themes = {
    light: {
      paper: "#ffffff",
      text: "#1f2328",
      muted: "#59636e",
      axis: "#8c959f",
      grid: "#e4e7eb",
      tip: "#ffffff",
      hatch: "rgba(255,255,255,0.55)",
      shade: "rgba(0,114,178,0.06)",
      series: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6e7781"],
      ink: ["#005f95", "#a84900", "#00704f", "#974572", "#865c00", "#1a6d9e", "#59636e"]
    },
    dark: {
      paper: "#111111",
      text: "#e6e8ea",
      muted: "#a8b0b9",
      axis: "#77808a",
      grid: "#2f353b",
      tip: "#22272e",
      hatch: "rgba(0,0,0,0.45)",
      shade: "rgba(120,190,255,0.08)",
      series: ["#4aa8e0", "#ee7f2d", "#1fbf93", "#d98fb8", "#f3cf4a", "#9fd8f7", "#79828b"],
      ink: ["#79c0ee", "#f79b57", "#4fd3ae", "#e8aecd", "#f0c566", "#a9dcf8", "#b4bcc5"]
    }
  };

  var NAMED = { color: 1, borderColor: 1, textBorderColor: 1, backgroundColor: 1, formatter: 1 };

  // --- numbers -------------------------------------------------------------

  function group(s) {
    var m = /^(-?)(\d+)(.*)$/.exec(s);
    return m ? m[1] + m[2].replace(/\B(?=(\d{3})+$)/g, ",") + m[3] : s;
  }

  // A number with a power of ten, to so many significant digits.
  function scientific(v, count) {
    var parts = v.toExponential(count - 1).split("e");
    var mantissa = parts[0].indexOf(".") < 0 ? parts[0] : parts[0].replace(/0+$/, "").replace(/\.$/, "");
    return mantissa + "e" + parts[1].replace(/^([+-])(\d)$/, "$10$2");
  }

  var HUGE = 1e15; // numbers from here on are not written in full

  // Four significant digits, the whole part in full. Zeros at the end stand only
  // where digits were cut off; a difference that nine digits do not show is the
  // noise of arithmetic.
  function decimals(v) {
    if (Math.abs(v) >= HUGE) return scientific(v, 4);
    if (v === 0) return "0";
    var s = v.toFixed(Math.max(0, 3 - v.toExponential(3).split("e")[1]));
    if (Number(s) === Number(v.toPrecision(9)) && s.indexOf(".") >= 0) s = s.replace(/0+$/, "").replace(/\.$/, "");
    return group(s);
  }

  // Six significant digits, whole numbers in full.
  function plain(v) {
    if (v === Math.trunc(v) && Math.abs(v) < HUGE) return group(String(v));
    var s = v.toPrecision(6);
    if (s.indexOf("e") >= 0 || Math.abs(v) < 1e-4) return scientific(v, 6);
    if (s.indexOf(".") >= 0) s = s.replace(/0+$/, "").replace(/\.$/, "");
    return group(s);
  }

  var PREFIXES = ["p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E"];
  var ONE = 4;
  var PREFIXED = { bytes: "B", byte: "B", "bytes/s": "B/s", "byte/s": "B/s", FLOPs: "FLOP" };

  function si(v, unit) {
    if (v === 0) return ("0 " + unit).trim();
    var size = Math.abs(v);
    if (size < 0.995e-14 || size >= 0.99995e21 || (unit === "s" && size >= HUGE)) {
      return (scientific(v, 4) + " " + unit).trim(); // out of the reach of the prefixes
    }
    var i = ONE;
    for (var a = size; i > 0 && a < 1; i--) {
      a *= 1000;
      v *= 1000;
    }
    if (unit !== "s") {
      for (; i < PREFIXES.length - 1 && Math.abs(v) >= 1000; i++) v /= 1000;
    }
    var s = decimals(v);
    if ((s === "1,000" || s === "-1,000") && i < PREFIXES.length - 1 && !(unit === "s" && i >= ONE)) {
      i++;
      s = decimals(v / 1000);
    }
    if (PREFIXES[i] !== "" && PREFIXED[unit]) unit = PREFIXED[unit];
    return (s + " " + PREFIXES[i] + unit).trim();
  }

  var BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];

  function binary(v, unit, decimal) {
    var i = 0;
    for (; i < BINARY.length - 1 && Math.abs(v) >= 1024; i++) v /= 1024;
    return (decimal(v) + " " + BINARY[i] + (i > 0 && PREFIXED[unit] ? PREFIXED[unit] : unit)).trim();
  }

  // The units that take SI prefixes.
  var SCALED = { s: 1, B: 1, byte: 1, bytes: 1, "B/s": 1, "bytes/s": 1, FLOP: 1, FLOPs: 1, "FLOP/s": 1 };

  // A value with its unit, as tooltips and tables say it.
  function value(v, unit, base) {
    if (base === 2 && (unit === "B" || unit === "bytes") && Math.abs(v) >= 1024) return binary(v, unit, decimals);
    if (SCALED[unit] && v !== 0 && (unit === "s" || Math.abs(v) >= 1e4 || Math.abs(v) < 1e-2)) return si(v, unit);
    return (plain(v) + " " + unit).trim();
  }

  // Labels of ticks are short: "10G", "0.1", "64 KiB", "1 ms".
  var ticks = {
    si: function (v) {
      if (Math.abs(v) < 1e3) return plain(v);
      return si(v, "").replace(" ", "");
    },
    num: plain,
    ki: function (v) { return binary(v, "B", plain); },
    s: function (v) { return si(v, "s"); }
  };

  // --- the option object ---------------------------------------------------

  function escapeHTML(s) {
    return String(s).replace(/[&<>"']/g, function (c) {
      return { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }[c];
    });
  }

  function one(s) { return escapeHTML(String(s).replace(/\s+/g, " ")); }

  // info says what each axis shows: name, unit, base, and whether it holds
  // categories.
  function tooltip(info) {
    function coordinate(axis, v) { return escapeHTML(value(v, axis.unit, axis.base)); }
    return function (params) {
      var list = Array.isArray(params) ? params : [params];
      list = list.filter(function (p) { return Array.isArray(p.value); });
      if (list.length === 0) return "";
      var p = list[0], head, read;
      var bars = info.x.category || info.y.category;
      if (bars) {
        var along = info.x.category ? 1 : 0;
        head = one(p.name);
        read = function (q) { return coordinate(along === 1 ? info.y : info.x, q.value[along]); };
      } else {
        head = one(info.x.name) + ": " + coordinate(info.x, p.value[0]);
        read = function (q) { return coordinate(info.y, q.value[1]); };
      }
      var lines = list.map(function (q) {
        // What stands at a bar is its value; what stands at a dot is its name.
        var name = (!bars && q.data && q.data.text) || q.seriesName || (info.y.category ? info.x : info.y).name;
        return q.marker + one(name) + ": <b>" + read(q) + "</b>";
      });
      return [head].concat(lines).join("<br>");
    };
  }

  function resolve(name, theme, info) {
    var part = name.split(":");
    switch (part[1]) {
      case "series":
      case "ink":
        return theme[part[1]][part[2] % theme[part[1]].length];
      case "tick":
        return ticks[part[2]];
      case "text":
        return function (p) { return (p.data && p.data.text) || ""; };
      case "tooltip":
        return tooltip(info);
      case "colour":
        return theme[part[2]];
    }
    throw new Error("unknown name " + name);
  }

  function copy(node, theme, info) {
    if (Array.isArray(node)) return node.map(function (v) { return copy(v, theme, info); });
    if (node === null || typeof node !== "object") return node;
    var out = {};
    Object.keys(node).forEach(function (key) {
      var v = node[key];
      if (NAMED[key] && typeof v === "string" && v.slice(0, 3) === "mw:") out[key] = resolve(v, theme, info);
      else if (NAMED[key] && Array.isArray(v)) {
        out[key] = v.map(function (s) {
          return typeof s === "string" && s.slice(0, 3) === "mw:" ? resolve(s, theme, info) : s;
        });
      } else out[key] = copy(v, theme, info);
    });
    return out;
  }

  // ECharts puts a grid line at each tick mark. Only those at labels show.
  function thinGrid(axis) {
    var marks = axis.axisTick && axis.axisTick.customValues, labels = axis.axisLabel && axis.axisLabel.customValues;
    var line = axis.splitLine && axis.splitLine.lineStyle;
    if (!marks || !labels || !line || typeof line.color !== "string") return;
    var seen = line.color;
    line.color = marks.map(function (v) { return labels.indexOf(v) < 0 ? "transparent" : seen; });
  }

  // prepare returns a copy of the option that ECharts can draw: names replaced,
  // the axes' description taken out. paper, if given, is the page's own colour.
  function prepare(option, themeName, paper) {
    var theme = themes[themeName];
    if (paper) theme = Object.assign({}, theme, { paper: paper });
    var info = option.mw;
    var out = copy(option, theme, info);
    delete out.mw;
    [].concat(out.xAxis || [], out.yAxis || []).forEach(thinGrid);
    return out;
  }

  // tidy takes out of an SVG of ECharts what does not show (shapes that only
  // answer to a pointer, grid lines between those that are seen) and what only
  // its scripts use, and says the font once.
  function tidy(svg) {
    var font = /font-family:([^;"]*)/.exec(svg);
    return svg
      .replace(/<path [^>]*><\/path>\n?/g, function (path) {
        var filled = !/ fill="none"/.test(path) && !/ fill-opacity="0"/.test(path);
        var drawn = / stroke="(?!none")/.test(path) && !/ stroke-width="0"/.test(path);
        return filled || drawn ? path : "";
      })
      .replace(/<[^>]*>/g, function (tag) {
        return tag
          .replace(/ ecmeta_[a-z_]+="[^"]*"/g, "")
          .replace(/ pointer-events="[^"]*"/g, "")
          .replace(font ? "font-family:" + font[1] + ";" : "font-family:;", "");
      })
      .replace(/ xml:space="preserve"/g, "")
      .replace(/<svg /, font ? '<svg font-family="' + font[1] + '" ' : "<svg ");
  }

  // How wide a text is, about, by the kinds of its letters. ECharts places text
  // by what it measures. In a page it would ask for the reader's fonts, and for
  // the height of a line look at a letter that few of them have, so that the
  // chart would not be the picture.
  function measureText(text, font) {
    var size = parseFloat((/([\d.]+)px/.exec(font) || [0, 12])[1]);
    var sum = 0;
    for (var i = 0; i < text.length; i++) {
      var c = text.charAt(i);
      sum += c >= "\u2e80" ? 1 : /[ijlI.,:;'|!()[\] ftr]/.test(c) ? 0.34 : /[mwMW@%\u2190-\u2bff]/.test(c) ? 0.9 : 0.6;
    }
    return { width: sum * size };
  }

  // svg draws the option as a picture of itself, with opaque paper: frame gives
  // width and height in pixels, the id that the ids inside start with, the theme
  // and the colour of the paper. The same input gives the same bytes.
  function svg(echarts, option, frame) {
    echarts.setPlatformAPI({ measureText: measureText });
    var chart = echarts.init(null, null, { renderer: "svg", ssr: true, width: frame.width, height: frame.height });
    try {
      var painter = chart.getZr().painter;
      painter._id = frame.id; // ids come from a counter of the process otherwise
      chart.setOption(Object.assign(prepare(option, frame.theme, frame.paper), {
        backgroundColor: frame.paper || themes[frame.theme].paper, animation: false
      }));
      return tidy(painter.renderToString({ cssAnimation: false, cssEmphasis: false, useViewBox: true })) + "\n";
    } finally {
      chart.dispose();
    }
  }

  // --- the page ------------------------------------------------------------

  var kit = { prepare: prepare, svg: svg, tidy: tidy, ticks: ticks, value: value, si: si, themes: themes };

  var live = []; // {root, stage, picture, box, chart, data}
  var KEEP = 40; // charts kept drawn that are not in the page

  function themeOf() {
    var said = document.body.getAttribute("data-jp-theme-light");
    if (said === "true") return "light";
    if (said === "false") return "dark";
    for (var e = document.body; e; e = e.parentElement) {
      var c = /^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/.exec(getComputedStyle(e).backgroundColor);
      if (c && c[4] !== "0") return 0.299 * c[1] + 0.587 * c[2] + 0.114 * c[3] < 128 ? "dark" : "light";
    }
    return "light";
  }

  function paperOf() {
    return getComputedStyle(document.body).getPropertyValue("--jp-layout-color0").trim() || undefined;
  }

  // --- saving --------------------------------------------------------------

  // What is saved is made in the page: no kernel and no network is asked.
  var formats = [
    { name: "Save as SVG", end: "svg", make: function (entry) { return Promise.resolve(new Blob([pictureOf(entry)], { type: "image/svg+xml" })); } },
    { name: "Save as PNG", end: "png", make: pixelsOf },
    { name: "Save data as CSV", end: "csv", make: function (entry) { return Promise.resolve(new Blob([entry.data.csv], { type: "text/csv;charset=utf-8" })); } }
  ];
  var SCALE = 2; // pixels of a PNG for one of the page

  // The figure as it is on the screen, on the paper of the page.
  function pictureOf(entry) {
    var option = entry.data.option, seen = entry.chart && entry.chart.getOption().legend;
    if (seen && seen[0] && seen[0].selected) {
      option = Object.assign({}, option, { legend: Object.assign({}, option.legend, { selected: seen[0].selected }) });
    }
    return svg(root.echarts, option, {
      width: entry.data.width, height: entry.data.height, id: entry.root.id || "figure", theme: themeOf(), paper: paperOf()
    });
  }

  function pixelsOf(entry) {
    return new Promise(function (done, failed) {
      var width = SCALE * entry.data.width, height = SCALE * entry.data.height;
      var image = new Image();
      image.onload = function () {
        var canvas = document.createElement("canvas");
        canvas.width = width;
        canvas.height = height;
        canvas.getContext("2d").drawImage(image, 0, 0, width, height);
        canvas.toBlob(function (blob) {
          if (blob) done(blob);
          else failed(new Error("the browser made no PNG"));
        }, "image/png");
      };
      image.onerror = function () { failed(new Error("the browser cannot read its own SVG")); };
      // A picture of the full size is sharp. A data: address works on pages from disk too.
      image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(
        pictureOf(entry).replace(/ width="\d+" height="\d+"/, ' width="' + width + '" height="' + height + '"'));
    });
  }

  function download(blob, name) {
    var link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    document.body.appendChild(link);
    link.click();
    document.body.removeChild(link);
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 60000);
  }

  var CSS =
    // Drawings of pkg/lesson that are no charts come in two colours.
    '[data-jp-theme-light="false"] .memorywall-light{display:none}[data-jp-theme-light="false"] .memorywall-dark{display:inline!important}' +
    // Pictures have white paper: until a chart takes its place, a dark page shows one less bright.
    '@media screen{[data-jp-theme-light="false"] .memorywall-stage>img{filter:brightness(0.85)}}' +
    ".memorywall-foot{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 20px}" +
    ".memorywall-foot>details{max-width:100%}.memorywall-foot>details[open]{flex-basis:100%}" +
    ".memorywall-save{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 14px;font-size:90%}" +
    ".memorywall-save button{appearance:none;border:0;background:none;margin:0;padding:4px 0;min-height:24px;font:inherit;cursor:pointer;" +
    "color:var(--jp-ui-font-color2,#59636e);text-decoration:underline;text-underline-offset:2px}" +
    ".memorywall-save button:hover{color:var(--jp-ui-font-color1,#1f2328)}" +
    ".memorywall-save button:focus-visible{outline:2px solid var(--jp-brand-color1,#0072b2);outline-offset:2px}" +
    "@media print{.memorywall-save{display:none}}";

  function dress() {
    if (document.getElementById("memorywall-css")) return;
    var style = document.createElement("style");
    style.id = "memorywall-css";
    style.textContent = CSS;
    document.head.appendChild(style);
  }

  // Puts the buttons below a figure beside its table, once.
  function offer(host, data) {
    var foot = host.querySelector(".memorywall-foot");
    if (!foot || foot.querySelector(".memorywall-save")) return;
    var row = document.createElement("div"), said = document.createElement("span");
    row.className = "memorywall-save";
    said.setAttribute("role", "status");
    formats.forEach(function (format) {
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = format.name;
      button.setAttribute("aria-label", format.name + ": " + host.id);
      button.onclick = function () {
        var entry = live.filter(function (e) { return e.root === host; })[0] || { root: host, data: data };
        said.textContent = "";
        Promise.resolve(entry).then(format.make).then(function (blob) {
          download(blob, host.id + "." + format.end);
        }).catch(function (e) {
          said.textContent = "Not saved: " + (e && e.message || e);
        });
      };
      row.appendChild(button);
    });
    row.appendChild(said);
    foot.appendChild(row);
  }

  function paint(entry) {
    var option = prepare(entry.data.option, themeOf(), paperOf());
    option.backgroundColor = "transparent";
    entry.chart.setOption(option, { notMerge: true });
  }

  // Takes the live chart away and puts the picture back.
  function retire(entry) {
    live = live.filter(function (e) { return e !== entry; });
    try { entry.chart.dispose(); } catch (e) { /* it is gone already */ }
    if (entry.box.parentNode) entry.box.parentNode.removeChild(entry.box);
    if (entry.picture) entry.picture.style.display = "";
  }

  function sweep() {
    var away = live.filter(function (e) { return !e.root.isConnected; });
    away.slice(0, Math.max(0, away.length - KEEP)).forEach(retire);
  }

  function draw(host, echarts) {
    live.filter(function (e) { return e.root === host; }).forEach(retire);
    sweep();
    var data = JSON.parse(host.querySelector('script[type="application/json"]').textContent);
    var stage = host.querySelector(".memorywall-stage");
    var picture = stage.firstElementChild;
    var box = document.createElement("div");
    box.className = "memorywall-live";
    box.style.width = data.width + "px";
    box.style.height = data.height + "px";
    var entry = { root: host, stage: stage, picture: picture, box: box, data: data };
    if (picture) picture.style.display = "none";
    stage.appendChild(box);
    try {
      echarts.setPlatformAPI({ measureText: measureText });
      entry.chart = echarts.init(box, null, { renderer: "svg", width: data.width, height: data.height });
      paint(entry);
    } catch (e) {
      retire(entry);
      throw e;
    }
    live.push(entry);
    watch();
    if (typeof data.csv === "string") offer(host, data);
  }

  var watching = false;

  function watch() {
    if (watching) return;
    watching = true;
    var seen = themeOf() + paperOf();
    new MutationObserver(function () {
      // The colours arrive with a style sheet, a little after the attribute.
      [0, 100, 500].forEach(function (ms) {
        setTimeout(function () {
          var now = themeOf() + paperOf();
          if (now === seen) return;
          seen = now;
          live.forEach(function (e) {
            try { paint(e); } catch (err) { retire(e); }
          });
        }, ms);
      });
    }).observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-jp-theme-name", "class"] });
  }

  // Loads ECharts once for the page. Where an AMD loader stands in the page
  // (require.js), ECharts would hand itself to that: it is hidden meanwhile.
  var loading = null;

  function load(url) {
    if (root.echarts && root.echarts.init) return Promise.resolve(root.echarts);
    if (loading) return loading;
    loading = new Promise(function (done, failed) {
      var define = root.define;
      if (define && define.amd) root.define = undefined;
      var script = document.createElement("script");
      script.src = url;
      function end() { if (define && define.amd) root.define = define; }
      script.onload = function () {
        end();
        if (root.echarts && root.echarts.init) done(root.echarts);
        else failed(new Error("no echarts in " + url));
      };
      script.onerror = function () {
        end();
        failed(new Error("cannot load " + url));
      };
      document.head.appendChild(script);
    });
    loading.catch(function () { loading = null; });
    return loading;
  }

  // show draws the figure whose element is host. Until it is drawn, and
  // whenever it cannot be, the picture inside host stays.
  function show(host, folder) {
    return load(folder + "node_modules/echarts/dist/echarts.min.js").then(function (echarts) {
      draw(host, echarts);
    });
  }

  kit.show = show;

  if (typeof document !== "undefined") dress();
  if (typeof window !== "undefined") root.memorywall = Object.assign(root.memorywall || {}, kit);
  if (typeof module === "object" && module.exports) module.exports = kit;
})(typeof window !== "undefined" ? window : globalThis);
