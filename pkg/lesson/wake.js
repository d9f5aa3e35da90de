(function (me) {
  "use strict";
  // The script of a figure or an explorer: it loads what brings it to life from
  // where the page says, or from Jupyter's server, once for the page, and hands
  // it the script's own parent: two views of one notebook hold the same ids twice.
  // Where anything is missing the picture stays.
  const host = me && me.parentNode, w = window, d = document;
  if (!host || !host.querySelector) return;
  const figure = host.classList.contains("memorywall-figure");
  const [own, rest, name] = figure ? ["memorywallFolder", "charts/", "show"] : ["memorywallExplorer", "explorer/", "explore"];
  const file = figure ? "figure.js" : "explorer.js";
  const there = () => w.memorywall && w.memorywall[name];
  function folder() {
    if (w[own]) return w[own];
    let base = null;
    try { base = JSON.parse(d.getElementById("jupyter-config-data").textContent).baseUrl; } catch { /* no page of Jupyter */ }
    base = base || d.body.getAttribute("data-base-url") || d.documentElement.getAttribute("data-base-url");
    return base && base.replace(/\/?$/, "/") + "files/scripts/" + rest;
  }
  const from = folder(), loading = "memorywallLoading_" + name;
  if (!from && !there()) return;
  if (!there() && !w[loading]) {
    w[loading] = new Promise(function (done, failed) {
      const script = d.createElement("script");
      script.src = from + file;
      script.onload = done;
      script.onerror = () => failed(new Error("cannot load " + script.src));
      d.head.appendChild(script);
    });
    w[loading].catch(() => setTimeout(() => { w[loading] = null; }, 5000));
  }
  Promise.resolve(w[loading]).then(() => w.memorywall[name](host, from || "")).catch((e) =>
    console.info("memorywall: the picture stays, since what is live did not start: " + (e && e.message)));
})(document.currentScript);
