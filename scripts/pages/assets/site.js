// What a page does for its reader. All of it can be read without this script.
(function () {
  "use strict";
  var page = window.memorywallPage;
  function all(selector) { return Array.prototype.slice.call(document.querySelectorAll(selector)); }
  function one(id) { return document.getElementById(id); }

  // --- settings ------------------------------------------------------------

  var folds = all("details.code");
  folds.forEach(function (fold) { fold.written = fold.open; });

  function code(choice) {
    folds.forEach(function (fold) { fold.open = choice === "shown" || (choice !== "folded" && fold.written); });
  }

  // A select that does something at once, and again on the next page.
  function setting(name, act) {
    var select = one(name);
    var saved = page.recall(name);
    if (saved && Array.prototype.some.call(select.options, function (o) { return o.value === saved; })) select.value = saved;
    act(select.value);
    select.addEventListener("change", function () {
      page.keep(name, select.value);
      act(select.value);
    });
  }

  setting("code", code);
  setting("theme", page.theme);
  document.querySelector(".settings").hidden = false;

  // --- contents ------------------------------------------------------------

  var menu = one("menu");
  var contents = one("contents");

  function open(yes) {
    menu.setAttribute("aria-expanded", String(yes));
    contents.classList.toggle("open", yes);
    document.body.classList.toggle("menu-open", yes);
  }
  menu.addEventListener("click", function () { open(menu.getAttribute("aria-expanded") !== "true"); });
  contents.addEventListener("click", function (event) { if (event.target.closest("a")) open(false); });
  document.addEventListener("keydown", function (event) {
    if (event.key !== "Escape" || menu.getAttribute("aria-expanded") !== "true") return;
    open(false);
    menu.focus();
  });

  // The section that is read: the last one whose heading has come to where a
  // link to it leads, below the header. (Any lower, and a short section that a
  // link led to would give way to the next one.)
  var links = all('#contents a[href^="#"]');
  var heads = links.map(function (link) { return one(decodeURIComponent(link.getAttribute("href").slice(1))); });
  var marked = null;

  function mark() {
    var line = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) + 48;
    var now = null;
    if (window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 2 && window.scrollY > 0) {
      now = links[links.length - 1];
    } else {
      heads.forEach(function (head, i) { if (head.getBoundingClientRect().top <= line) now = links[i]; });
    }
    if (now === marked) return;
    if (marked) marked.removeAttribute("aria-current");
    if (now) {
      now.setAttribute("aria-current", "location");
      // Keep it in sight in a long list, and leave the page where it is.
      var box = contents.getBoundingClientRect(), at = now.getBoundingClientRect();
      if (at.top < box.top || at.bottom > box.bottom) contents.scrollTop += at.top - box.top - box.height / 3;
    }
    marked = now;
  }

  // --- what is wider than the page ------------------------------------------

  // A box that scrolls can be reached with the keyboard, and says what it is.
  function boxes() {
    // A formula or a table is set smaller where that makes it fit, down to what can be read.
    all(".formula, .scroll").forEach(function (box) {
      box.style.removeProperty("--fit");
      var share = box.clientWidth / box.scrollWidth;
      if (share > 0 && share < 1) box.style.setProperty("--fit", Math.max(box.classList.contains("scroll") ? 0.75 : 0.6, 0.98 * share));
    });
    all(".scroll, pre, .formula").forEach(function (box) {
      var wide = box.scrollWidth > box.clientWidth + 1;
      box.classList.toggle("wide", wide);
      if (!wide) {
        box.removeAttribute("tabindex");
        if (box.getAttribute("role") === "group") { box.removeAttribute("role"); box.removeAttribute("aria-label"); }
        return;
      }
      box.setAttribute("tabindex", "0");
      if (!box.getAttribute("role")) {
        box.setAttribute("role", "group");
        box.setAttribute("aria-label", box.tagName === "PRE" ? "code, scrolls sideways"
          : box.classList.contains("scroll") ? "table, scrolls sideways" : "formula, scrolls sideways");
      }
    });
  }

  var waiting = false;
  function later() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(function () { waiting = false; boxes(); mark(); });
  }
  window.addEventListener("resize", later);
  window.addEventListener("load", later);
  document.addEventListener("toggle", later, true); // a fold opened or closed
  window.addEventListener("scroll", function () { requestAnimationFrame(mark); }, { passive: true });
  later();

  // --- figures -------------------------------------------------------------

  // What draws them is large, so it is loaded when the first figure comes near.
  var loaded = {};
  function load(address) {
    return loaded[address] = loaded[address] || new Promise(function (done, failed) {
      var script = document.createElement("script");
      script.src = address;
      script.onload = done;
      script.onerror = function () { failed(new Error("cannot load " + address)); };
      document.head.appendChild(script);
    });
  }

  function draw(figure) {
    var folder = window.memorywallFolder;
    Promise.all([load(folder + "echarts.min.js"), load(folder + "figure.js")]).then(function () {
      return window.memorywall.show(figure, folder);
    }).catch(function (error) {
      console.info("memorywall: the picture stays, the figure was not drawn: " + error.message);
    });
  }

  var near = new IntersectionObserver(function (entries) {
    entries.forEach(function (entry) {
      if (!entry.isIntersecting) return;
      near.unobserve(entry.target);
      draw(entry.target);
    });
  }, { rootMargin: "600px 0px" });
  all(".memorywall-figure").forEach(function (figure) { near.observe(figure); });

  // --- paper ---------------------------------------------------------------

  // Answers are printed open.
  var opened = [];
  page.paper.addEventListener("change", function () {
    if (page.paper.matches) {
      opened = all("details.answer:not([open])");
      opened.forEach(function (fold) { fold.open = true; });
    } else {
      opened.forEach(function (fold) { fold.open = false; });
    }
  });

  // --- where a link leads ---------------------------------------------------

  // Opens what the target is folded into. JupyterLab's name of a heading,
  // Ridge-point, leads to ridge-point.
  function arrive() {
    var name;
    try { name = decodeURIComponent(location.hash.slice(1)); } catch (e) { return; }
    if (!name) return;
    var target = one(name);
    if (!target) {
      var plain = name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
      if (one(plain)) location.replace("#" + encodeURIComponent(plain));
      return;
    }
    var folded = false;
    for (var up = target.parentElement; up; up = up.parentElement) {
      if (up.tagName === "DETAILS" && !up.open) folded = up.open = true;
    }
    if (folded) target.scrollIntoView();
  }
  window.addEventListener("hashchange", arrive);
  arrive();
})();
