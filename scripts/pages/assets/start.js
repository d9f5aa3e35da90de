// Runs before the page is drawn: the theme that the reader chose, and where the
// figures and explorers of the page find what draws them.
(function () {
  "use strict";
  var root = document.documentElement;
  var dark = window.matchMedia("(prefers-color-scheme: dark)");
  var paper = window.matchMedia("print"); // always light

  // What is remembered. Some browsers keep nothing for a page from a file.
  function recall(name) {
    try { return localStorage.getItem("memorywall-" + name); } catch (e) { return null; }
  }
  function keep(name, value) {
    try { localStorage.setItem("memorywall-" + name, value); } catch (e) { /* for this page only */ }
  }

  // Outputs of the notebooks ask the body, as JupyterLab marks it.
  function apply() {
    var chosen = root.getAttribute("data-theme");
    var light = paper.matches || (chosen ? chosen === "light" : !dark.matches);
    document.body.setAttribute("data-jp-theme-light", String(light));
  }
  function theme(name) {
    if (name === "light" || name === "dark") root.setAttribute("data-theme", name);
    else root.removeAttribute("data-theme");
    apply();
  }

  root.classList.add("js");
  theme(recall("theme"));
  dark.addEventListener("change", apply);
  paper.addEventListener("change", apply);

  window.memorywallPage = { recall: recall, keep: keep, theme: theme, paper: paper };
  window.memorywallFolder = "assets/";
  window.memorywallExplorer = "explorer/";
})();
