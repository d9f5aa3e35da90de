// The live explorers. A page shows a picture in each element of the class
// memorywall-explorer; this file brings it to life. Everything that is shown is
// computed by pkg/explore, compiled to WebAssembly in built/: a control hands
// over what was typed or dragged, and what comes back is shown.
//
// Settings stay with the page. They are kept in the session's storage, under
// the page's (or the notebook's) path and the settings that the explorer began
// with, so they survive a reload. A link to them ends in the name of the
// explorer and a query, "#tile?n=4096&b=342"; a second explorer of one kind on a
// page is "#tile-2?…". No heading has such an anchor.
(function (root) {
  "use strict";

  if (root.memorywall && root.memorywall.explore) return;

  const doc = document;
  const here = (doc.currentScript && doc.currentScript.src || "").replace(/[^/]*$/, "");

  // --- starting the Go program, once for the page ----------------------------

  let starting = null;
  const timing = {}; // milliseconds of each part of the start, for whoever asks

  /** Adds an element that loads something to the page's head. */
  function loaded(tag, attributes) {
    return new Promise((done, failed) => {
      const e = make(tag, attributes, doc.head);
      e.onload = done;
      e.onerror = () => failed(new Error(`cannot load ${(attributes.src || attributes.href).replace(here, "")}`));
    });
  }

  async function boot() {
    let from = performance.now();
    const lap = (name) => {
      const now = performance.now();
      timing[name] = now - from;
      from = now;
    };
    if (!root.WebAssembly || !root.DecompressionStream) throw new Error("this browser has no WebAssembly or no DecompressionStream");
    await Promise.all(["wasm_exec.js", "explorer.wasm.js"].map((name) => loaded("script", { src: `${here}built/${name}` })));
    lap("load");
    const packed = new Blob([Uint8Array.from(atob(root.memorywallWasm), (c) => c.charCodeAt(0))]);
    root.memorywallWasm = null;
    const code = await new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
    lap("unpack");
    timing.bytes = code.byteLength;
    const go = new root.Go();
    const { instance } = await WebAssembly.instantiate(code, go.importObject);
    lap("compile");
    go.run(instance).then(() => { root.memorywallDraw = null; }); // it returns when the program waits for calls
    lap("run");
    if (!root.memorywallDraw) throw new Error("the program ended at once");
  }

  function start() {
    starting = starting || boot();
    starting.catch(() => { starting = null; });
    return starting;
  }

  function draw(name, settings, width) {
    if (!root.memorywallDraw) throw new Error("the program has ended");
    var view = JSON.parse(root.memorywallDraw(name, JSON.stringify(settings), width));
    if (view.failed) throw new Error(view.failed);
    return view;
  }

  // --- the page ----------------------------------------------------------------

  let style = null;

  // The style sheet of the explorers and, where the page has not got it, the
  // palette. Without them an explorer works, and looks plain.
  function styled() {
    const sheets = ["explorer.css"];
    if (!getComputedStyle(doc.documentElement).getPropertyValue("--mw-text")) sheets.push("../../pkg/internal/svg/palette.css");
    style = style || Promise.allSettled(sheets.map((name) => loaded("link", { rel: "stylesheet", href: here + name })));
    return style;
  }

  const all = () => [...doc.querySelectorAll(".memorywall-explorer")];

  // --- where the settings are kept ---------------------------------------------

  // The path of the notebook that holds the element, as the tab of its panel
  // tells it, or null on any other page.
  function notebook(host) {
    var panel = host.closest(".jp-NotebookPanel");
    var tab = panel && panel.id && doc.querySelector('.lm-TabBar-tab[data-id="' + panel.id + '"]');
    var title = tab && /(?:^|\n)Path: ([^\n]*)/.exec(tab.getAttribute("title") || "");
    return title ? title[1] : null;
  }

  function remember(host, state) {
    var kept = JSON.stringify({ settings: state.settings, link: state.link });
    try { sessionStorage.setItem(state.key, kept); } catch (e) { /* then a reload begins anew */ }
  }

  function remembered(key) {
    try { return JSON.parse(sessionStorage.getItem(key)) || {}; } catch (e) { return {}; }
  }

  const parse = (query) => Object.fromEntries(new URLSearchParams(query));

  // The name of an explorer in a link.
  function anchor(host) {
    var name = host.getAttribute("data-explorer");
    var scope = host.closest(".jp-NotebookPanel") || doc;
    var at = [...scope.querySelectorAll(`.memorywall-explorer[data-explorer="${name}"]`)].indexOf(host);
    return at > 0 ? `${name}-${at + 1}` : name;
  }

  // The part of the page's address from # on. JupyterLab takes it away while it
  // opens the notebook; what the page was opened with is still known.
  function fragment(host) {
    var path = notebook(host);
    if (path === null) return location.hash;
    try {
      var opened = new URL(performance.getEntriesByType("navigation")[0].name);
      return decodeURIComponent(opened.pathname).endsWith("/tree/" + path) ? opened.hash : "";
    } catch (e) {
      return "";
    }
  }

  // The settings that the page's address holds for this explorer, or null.
  function linked(host) {
    var hash = fragment(host).slice(1);
    var cut = hash.search(/\?|%3F/i);
    if (cut < 0 || hash.slice(0, cut) !== anchor(host)) return null;
    return hash.slice(cut).replace(/^(\?|%3F)/i, "");
  }

  // In JupyterLab the address of the page is not that of the notebook, and may
  // hold a token, which is nobody else's business.
  function link(host, query) {
    var page = location.href.replace(/#.*$/, "");
    var path = notebook(host);
    if (host.closest(".jp-NotebookPanel")) page = page.replace(/\?.*$/, "");
    if (path !== null) {
      page = location.origin + base() + "lab/tree/" + path.split("/").map(encodeURIComponent).join("/");
    }
    return page + "#" + anchor(host) + "?" + query;
  }

  // The base of Jupyter's addresses.
  function base() {
    var config = doc.getElementById("jupyter-config-data");
    try { return JSON.parse(config.textContent).baseUrl.replace(/\/?$/, "/"); } catch (e) { return "/"; }
  }

  // --- one explorer --------------------------------------------------------------

  var count = 0;

  function make(tag, attributes, parent) {
    var e = doc.createElement(tag);
    Object.keys(attributes || {}).forEach((name) => { e.setAttribute(name, attributes[name]); });
    if (parent) parent.appendChild(e);
    return e;
  }

  function write(e, text) {
    if (e.textContent !== text) e.textContent = text;
  }

  function explore(host) {
    if (host.memorywallState) return;
    var state = { host: host, name: host.getAttribute("data-explorer"), own: parse(host.getAttribute("data-settings") || "") };
    host.memorywallState = state;
    watch();
    function ready() {
      Promise.all([styled(), start()]).then(function () {
        if (host.isConnected) begin(state);
        else near(host, ready); // JupyterLab took it away meanwhile, and may bring it back
      }).catch((e) => { sorry(host, e); });
    }
    near(host, ready);
  }

  function sorry(host, e) {
    host.memorywallState = null;
    var p = host.querySelector(".mwx-sorry") || make("p", { "class": "mwx-sorry", role: "note" }, host);
    write(p, "The controls of this explorer did not start, so its picture stays as it is: " + (e && e.message || e) + ".");
    if (root.console) console.info("memorywall: " + p.textContent);
  }

  // Calls action when the element comes near what is seen, or the page has
  // nothing else to do.
  function near(host, action) {
    var done = false;
    function once() {
      if (done) return;
      done = true;
      seen.disconnect();
      action();
    }
    var seen = new IntersectionObserver(function (entries) {
      if (entries.some((e) => e.isIntersecting)) once();
    }, { rootMargin: "800px" });
    seen.observe(host);
    function idle() {
      function now() { if (host.isConnected) once(); }
      if (root.requestIdleCallback) root.requestIdleCallback(now, { timeout: 5000 });
      else setTimeout(now, 1000);
    }
    if (doc.readyState === "complete") idle();
    else root.addEventListener("load", idle);
  }

  function begin(state) {
    var host = state.host;
    state.key = "memorywall:" + (notebook(host) || location.pathname) + ":" + anchor(host) + "?" + (host.getAttribute("data-settings") || "");
    var kept = remembered(state.key);
    var query = linked(host);
    state.link = query === null ? kept.link : query;
    if (query !== null && query !== kept.link) {
      state.settings = parse(query);
      requestAnimationFrame(() => { host.scrollIntoView(); });
    } else {
      state.settings = kept.settings || state.own;
    }
    build(state);
    update(state, {});
    if (state.view.errors.length > 0 && !state.shown && kept.settings && query === null) {
      state.settings = state.own; // kept by an older version of the lesson
      update(state, {});
    }
    state.update = function (changes) {
      typing(state, null);
      update(state, changes);
    };
  }

  function build(state) {
    var host = state.host;
    var id = "mwx" + (++count) + "-";
    state.id = id;
    var view = draw(state.name, state.own, width(state));
    var live = make("div", { "class": "mwx", role: "group", "aria-label": "Explorer: " + view.title });
    var figure = make("div", { "class": "mwx-figure" }, live);
    state.instead = make("p", { "class": "mwx-error" }, figure);
    state.picture = make("div", { "class": "mwx-picture" }, figure);
    state.summary = make("p", { "class": "mwx-summary" }, figure);
    var form = make("form", { "class": "mwx-form", autocomplete: "off", novalidate: "" }, live);
    form.addEventListener("submit", (e) => { e.preventDefault(); });
    state.fields = {};
    state.form = make("div", { "class": "mwx-fields" }, form);
    view.controls.forEach((c) => { state.fields[c.key] = field(state, c); });
    state.trouble = make("p", { "class": "mwx-error", id: id + "error" }, form);
    var row = make("div", { "class": "mwx-row" }, form);
    button(row, "Reset", "", function () { state.settings = {}; change(state, state.own, true); });
    button(row, "Copy link", "", () => { copy(state); });
    state.linkField = make("input", { type: "text", "class": "mwx-link", readonly: "", hidden: "", "aria-label": "Link to these settings" }, row);
    state.status = make("p", { "class": "mwx-status", role: "status", "aria-live": "polite" }, form);

    var table = make("table", { "class": "mwx-values" }, live);
    make("caption", {}, table).textContent = "What follows from these settings";
    state.rows = make("tbody", {}, table);
    state.notes = make("div", { "class": "mwx-notes" }, live);

    // In JupyterLab arrow keys and letters are commands. They are not in here,
    // which each element that takes the focus must say.
    live.querySelectorAll("input, select, button").forEach((e) => { e.setAttribute("data-lm-suppress-shortcuts", "true"); });

    state.still = host.querySelector(".memorywall-still");
    if (state.still) state.still.style.display = "none";
    host.appendChild(live);
    state.live = live;
    new ResizeObserver(function () {
      if (state.width !== undefined && width(state) !== state.width) frame(state);
    }).observe(state.picture);
  }

  function width(state) {
    var box = state.picture && state.picture.isConnected ? state.picture : state.host;
    return Math.floor(box.clientWidth) || 760;
  }

  function button(parent, label, name, action) {
    var b = make("button", { type: "button" }, parent);
    b.textContent = label;
    if (name) {
      b.title = name;
      b.setAttribute("aria-label", name);
    }
    b.addEventListener("click", () => { if (b.getAttribute("aria-disabled") !== "true") action(b); });
    return b;
  }

  // field makes one control: a label with what can be typed, chosen or dragged.
  function field(state, c) {
    var id = state.id + c.key;
    var f = { key: c.key, box: make("div", { "class": "mwx-field" }, state.form) };
    var label = make("label", { "for": id }, f.box);
    label.textContent = c.label;
    var line = make("div", { "class": "mwx-line" }, f.box);
    var described = id + "-error";
    if (c.options) {
      f.input = make("select", { id: id, "aria-describedby": described, title: c.help }, line);
      f.input.addEventListener("change", function () {
        const chosen = f.control.options.find((o) => o.value === f.input.value);
        change(state, { ...f.control.sets, [c.key]: f.input.value, ...(chosen && chosen.sets) });
      });
    } else {
      f.input = make("input", { id: id, type: "text", spellcheck: "false", "aria-describedby": described, title: c.help }, line);
      f.input.addEventListener("input", () => { typed(state, f, f.input.value, f); });
      for (const end of ["change", "blur"]) f.input.addEventListener(end, () => settle(state, f));
      f.input.addEventListener("keydown", (e) => { if (e.key === "Enter") settle(state, f); });
      f.slider = make("input", { type: "range", min: "0", step: "1", "aria-label": c.label + ", slider", "aria-describedby": described }, line);
      f.slider.addEventListener("input", () => { typed(state, f, "@" + f.slider.value); });
    }
    if (c.buttons) {
      var row = make("div", { "class": "mwx-row mwx-steps", role: "group", "aria-label": "Ways through the steps" }, f.box);
      f.buttons = c.buttons.map(function (b, i) {
        return button(row, b.label, b.name, () => { change(state, f.control.buttons[i].sets); });
      });
    }
    f.error = make("p", { "class": "mwx-error", id: described }, f.box);
    return f;
  }

  function typed(state, f, text, field) {
    change(state, { ...f.control.sets, [f.key]: text }, false, field);
  }

  // typing notes the field that is typed into, if any. It keeps its text as it
  // was typed; all others show what was understood, one that has the focus too.
  function typing(state, field) {
    Object.keys(state.fields).forEach((key) => { state.fields[key].typing = state.fields[key] === field; });
  }

  // settle ends the typing: the field then shows what was understood.
  function settle(state, f) {
    if (f.typing) change(state, {});
  }

  // change takes new settings over at the next frame, all that come until then
  // at once. An empty text takes a setting away. The field is the one that was
  // typed into, where the change comes from one.
  function change(state, changes, all, field) {
    typing(state, field);
    state.pending = Object.assign(all ? {} : state.pending || {}, changes);
    frame(state);
  }

  function frame(state) {
    if (state.waiting) return;
    state.waiting = true;
    requestAnimationFrame(function () {
      state.waiting = false;
      var changes = state.pending || {};
      state.pending = null;
      try {
        update(state, changes);
      } catch (e) {
        write(state.trouble, "The explorer has stopped: " + e.message + ". Load the page again.");
      }
    });
  }

  function update(state, changes) {
    const settings = Object.fromEntries(Object.entries({ ...state.settings, ...changes }).filter(([, text]) => text !== ""));
    state.width = width(state);
    var view = draw(state.name, settings, state.width);
    state.settings = view.settings;
    state.view = view;

    const wrong = Object.fromEntries(view.errors.map((e) => [e.key, e.message]));
    view.controls.forEach((c) => show(state.fields[c.key], c, wrong[c.key] || ""));
    write(state.trouble, view.errors.filter((e) => !state.fields[e.key]).map((e) => e.message).join(" "));
    // Where nothing was right as yet, what the page began with stands instead.
    var own = view.errors.length > 0 && !state.shown;
    var seen = own ? draw(state.name, state.own, state.width) : view;
    if (seen.errors.length === 0) {
      state.picture.innerHTML = seen.svg;
      write(state.summary, seen.summary);
      values(state.rows, seen.values);
      write(state.notes, seen.notes.join(" "));
    }
    if (view.errors.length === 0) {
      remember(state.host, state);
      state.shown = true;
    }
    write(state.instead, own && seen.errors.length === 0 ? "These are the settings that the page began with, not those of its link: " + messages(view) : "");
    state.live.classList.toggle("mwx-old", view.errors.length > 0);
    state.linkField.hidden = true;
    say(state);
  }

  function show(f, c, wrong) {
    f.control = c;
    if (c.options) {
      var form = JSON.stringify(c.options.map((o) => [o.value, o.label]));
      if (form !== f.form) {
        f.form = form;
        f.input.textContent = "";
        c.options.forEach(function (o) { make("option", { value: o.value }, f.input).textContent = o.label; });
      }
      f.input.value = c.text;
    } else {
      if (!f.typing && f.input.value !== c.text) f.input.value = c.text;
      f.slider.max = c.slider.most;
      if (!wrong) f.slider.value = c.slider.at;
      f.slider.setAttribute("aria-valuetext", wrong ? "none: " + wrong : c.text);
      f.slider.disabled = c.off;
    }
    f.input.disabled = c.off;
    f.box.classList.toggle("mwx-off", c.off);
    if (f.buttons) {
      f.buttons.forEach((b, i) => b.setAttribute("aria-disabled", String(!Object.keys(c.buttons?.[i]?.sets ?? {}).length)));
    }
    if (wrong) f.input.setAttribute("aria-invalid", "true");
    else f.input.removeAttribute("aria-invalid");
    write(f.error, wrong);
  }

  function messages(view) {
    return view.errors.map((e) => e.message).join("; ") + ".";
  }

  function values(body, list) {
    while (body.rows.length > list.length) body.deleteRow(-1);
    list.forEach(function (v, i) {
      var row = body.rows[i];
      if (!row) {
        row = make("tr", {}, body);
        make("th", { scope: "row" }, row);
        make("td", {}, row);
      }
      row.setAttribute("data-key", v.key);
      write(row.cells[0], v.label);
      write(row.cells[1], v.text);
    });
  }

  // What a screen reader says: once things have come to rest, not at each frame.
  function say(state) {
    clearTimeout(state.saying);
    if (!state.shown) return;
    state.saying = setTimeout(function () {
      write(state.status, state.view.errors.map((e) => e.message).join(" ") || state.view.summary);
    }, 700);
  }

  // copy copies a link to settings that can be opened, and no others.
  function copy(state) {
    if (state.view.errors.length > 0) {
      clearTimeout(state.saying);
      return tell(state, "Nothing is copied, since a setting is wrong: " + messages(state.view));
    }
    var text = link(state.host, state.view.query);
    function told(ok) {
      state.linkField.value = text;
      state.linkField.hidden = ok;
      if (!ok) state.linkField.select();
      clearTimeout(state.saying);
      tell(state, ok ? "The link is copied." : "Copy the link from the field.");
    }
    if (!navigator.clipboard) return told(false);
    navigator.clipboard.writeText(text).then(() => { told(true); }, () => { told(false); });
  }

  // tell says something to those who see the page, too, for a while.
  function tell(state, text) {
    write(state.status, text);
    state.status.classList.add("mwx-told");
    setTimeout(() => { state.status.classList.remove("mwx-told"); }, 4000);
  }

  // --- what happens to the page ----------------------------------------------------

  var watching = false;

  function watch() {
    if (watching) return;
    watching = true;
    root.addEventListener("hashchange", function () {
      all().forEach(function (host) {
        var state = host.memorywallState;
        if (!state || !state.update || notebook(host) !== null) return;
        var query = linked(host);
        if (query === null) return;
        state.link = query;
        state.settings = {};
        change(state, parse(query), true);
        host.scrollIntoView();
      });
    });
  }

  root.memorywall = Object.assign(root.memorywall || {}, { explore: explore, explorerTiming: timing });

  function begun() { all().forEach(explore); }
  if (doc.readyState === "loading") doc.addEventListener("DOMContentLoaded", begun);
  else begun();
})(window);
