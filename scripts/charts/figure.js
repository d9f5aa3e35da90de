// A figure in a page: memorywall.show(host, folder) draws it live where its
// picture stood, as wide as the page has room for, and offers to save it. What is
// drawn and how is in picture.js.
(function (root) {
  "use strict";

  let live = []; // {host, picture, box, chart, data, width}
  const KEEP = 40; // charts kept drawn that are not in the page

  // --- saving --------------------------------------------------------------

  /** The figure as it is on the screen, at its full size, in colours that need no page. */
  function pictureOf({ host, chart, data }) {
    const seen = chart && chart.getOption().legend;
    return resolved(host, root.memorywall.picture.svg(root.echarts, data.option, {
      width: data.width, height: data.height, id: host.id || "figure", selected: seen && seen[0] && seen[0].selected,
    }));
  }

  /** A picture with the colours that its host has on this page. */
  function resolved(host, svg) {
    const probe = host.appendChild(document.createElement("span"));
    const out = svg.replace(/var\(--mw-[\w-]+\)/g, (name) => {
      probe.style.color = name;
      return getComputedStyle(probe).color;
    });
    probe.remove();
    return out;
  }

  const blob = (text, type) => new Blob([text], { type });

  async function pixelsOf(entry) {
    const SCALE = 2; // pixels of a PNG for one of the page
    const width = SCALE * entry.data.width, height = SCALE * entry.data.height;
    const image = new Image();
    // A picture of the full size is sharp. A data: address works on pages from disk too.
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(pictureOf(entry).replace(/ width="\d+" height="\d+"/, ` width="${width}" height="${height}"`))}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    canvas.getContext("2d").drawImage(image, 0, 0, width, height);
    const png = await new Promise((done) => canvas.toBlob(done, "image/png"));
    if (!png) throw new Error("the browser made no PNG");
    return png;
  }

  // What is saved is made in the page: no kernel and no network is asked.
  const formats = [
    { name: "Save as SVG", end: "svg", make: (entry) => blob(pictureOf(entry), "image/svg+xml") },
    { name: "Save as PNG", end: "png", make: pixelsOf },
    { name: "Save data as CSV", end: "csv", make: (entry) => blob(entry.data.csv, "text/csv;charset=utf-8") },
  ];

  function download(content, name) {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(content), download: name });
    document.body.appendChild(link).click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }

  /** Puts the buttons below a figure beside its table, once. */
  function offer(host, data) {
    const foot = host.querySelector(".memorywall-foot");
    if (!foot || foot.querySelector(".memorywall-save")) return;
    const row = document.createElement("div"), said = document.createElement("span");
    row.className = "memorywall-save";
    said.setAttribute("role", "status");
    for (const format of formats) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: format.name });
      button.setAttribute("aria-label", `${format.name}: ${host.id}`);
      button.onclick = async () => {
        said.textContent = "";
        try {
          download(await format.make(live.find((e) => e.host === host) ?? { host, data }), `${host.id}.${format.end}`);
        } catch (e) {
          said.textContent = `Not saved: ${e?.message || e}`;
        }
      };
      row.appendChild(button);
    }
    row.appendChild(said);
    foot.appendChild(row);
  }

  // --- drawing ---------------------------------------------------------------

  const CSS = `
    .memorywall-live{position:relative;max-width:100%;overflow:clip}
    .memorywall-foot{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 20px}
    .memorywall-foot>details{max-width:100%}.memorywall-foot>details[open]{flex-basis:100%}
    .memorywall-save{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 14px;font-size:90%}
    .memorywall-save button{appearance:none;border:0;background:none;margin:0;padding:4px 0;min-height:24px;font:inherit;cursor:pointer;
      color:var(--mw-muted);text-decoration:underline;text-underline-offset:2px}
    .memorywall-save button:hover{color:var(--mw-text)}
    .memorywall-save button:focus-visible{outline:2px solid var(--mw-series-0);outline-offset:2px}
    @media print{.memorywall-save,.memorywall-live{display:none!important}.memorywall-stage>img{display:block!important}}`;

  /** Gives the page the style of figures and, where it has not got it, the palette. */
  function dress(folder) {
    if (document.getElementById("memorywall-css")) return;
    document.head.appendChild(Object.assign(document.createElement("style"), { id: "memorywall-css", textContent: CSS }));
    if (getComputedStyle(document.documentElement).getPropertyValue("--mw-text")) return;
    document.head.appendChild(Object.assign(document.createElement("link"), { rel: "stylesheet", href: `${folder}../../pkg/internal/svg/palette.css` }));
  }

  /** Takes the live chart away and puts the picture back. */
  function retire(entry) {
    live = live.filter((e) => e !== entry);
    resized.unobserve(entry.host);
    try { entry.chart?.dispose(); } catch { /* it is gone already */ }
    entry.box.remove();
    if (entry.picture) entry.picture.style.display = "block";
  }

  function paint(entry) {
    const { host, data, box } = entry;
    const width = Math.max(240, Math.min(data.width, Math.floor(host.clientWidth) || data.width));
    if (width === entry.width) return;
    entry.width = width;
    const height = root.memorywall.picture.heightAt(data.option, width, data);
    Object.assign(box.style, { width: `${width}px`, height: `${height}px` });
    root.echarts.setPlatformAPI({ measureText: root.memorywall.picture.measureText });
    entry.chart?.dispose();
    entry.chart = root.echarts.init(box, null, { renderer: "svg", width, height });
    root.memorywall.picture.draw(entry.chart, data.option, width, height);
  }

  const resized = typeof ResizeObserver === "undefined" ? null : new ResizeObserver((entries) => requestAnimationFrame(() => {
    for (const { target } of entries) {
      const entry = live.find((e) => e.host === target);
      if (!entry || target.clientWidth === 0) continue;
      try { paint(entry); } catch { retire(entry); }
    }
  }));

  function draw(host) {
    live.filter((e) => e.host === host).forEach(retire);
    const away = live.filter((e) => !e.host.isConnected);
    away.slice(0, Math.max(0, away.length - KEEP)).forEach(retire);
    const data = JSON.parse(host.querySelector('script[type="application/json"]').textContent);
    const stage = host.querySelector(".memorywall-stage");
    const picture = stage.firstElementChild;
    const box = Object.assign(document.createElement("div"), { className: "memorywall-live" });
    const entry = { host, picture, box, data };
    if (picture) picture.style.display = "none";
    stage.appendChild(box);
    try {
      paint(entry);
    } catch (e) {
      retire(entry);
      throw e;
    }
    live.push(entry);
    resized.observe(host);
    if (typeof data.csv === "string") offer(host, data);
  }

  // --- loading ---------------------------------------------------------------

  const loading = {};

  /** Loads a script once for the page. Where an AMD loader stands in the page (require.js), ECharts would hand itself to that: it is hidden meanwhile. */
  function load(url, there) {
    if (there()) return Promise.resolve();
    loading[url] ??= new Promise((done, failed) => {
      const define = root.define;
      if (define?.amd) root.define = undefined;
      const end = (action) => () => {
        if (define?.amd) root.define = define;
        action();
      };
      const script = Object.assign(document.createElement("script"), { src: url });
      script.onload = end(() => (there() ? done() : failed(new Error(`nothing came of ${url}`))));
      script.onerror = end(() => failed(new Error(`cannot load ${url}`)));
      document.head.appendChild(script);
    });
    loading[url].catch(() => delete loading[url]);
    return loading[url];
  }

  /** Draws the figure whose element is host. Until it is drawn, and whenever it cannot be, the picture inside host stays. */
  async function show(host, folder) {
    dress(folder);
    await load(`${folder}node_modules/echarts/dist/echarts.min.js`, () => root.echarts?.init);
    await load(`${folder}place.js`, () => root.memorywall?.place);
    await load(`${folder}picture.js`, () => root.memorywall?.picture);
    draw(host);
  }

  root.memorywall = Object.assign(root.memorywall || {}, { show, resolved });
})(window);
