// One figure of a chapter, and what a reader does with it.

import { readFileSync } from "node:fs";
import { SHORT, until } from "./wait.mjs";

/** One figure in the window, as pkg/lesson and scripts/charts/figure.js make it. */
export class Figure {
  constructor(window, cell, id) {
    Object.assign(this, { window, cell, id, page: window.page });
    // In a notebook without trust JupyterLab gives ids another name.
    this.root = this.page.locator(`.memorywall-figure[id="${id}"], .memorywall-figure[data-jupyter-id="${id}"]`);
  }

  async show() {
    await this.root.scrollIntoViewIfNeeded({ timeout: SHORT });
  }

  /** Waits until the chart is drawn, then returns what there is to see of it. */
  async drawn() {
    await this.show();
    await this.root.locator(".memorywall-live svg").waitFor({ state: "visible", timeout: SHORT }).catch(() => {
      const said = this.window.console.filter((line) => line.includes("memorywall"));
      throw new Error([`${this.id} was not drawn as a live chart`, ...new Set(said)].join("\n"));
    });
    return this.look();
  }

  /** Waits until the static picture is there, then returns what there is to see of it. */
  async pictured() {
    await this.show();
    await this.root.locator(".memorywall-stage img").waitFor({ state: "visible" });
    return until(`the static picture of ${this.id}`, async () => {
      const { picture } = await this.look();
      return picture.loaded && picture;
    });
  }

  /** What the button that saves as SVG, PNG or CSV gives, pressed with the keyboard: {name, bytes}. */
  async save(format) {
    await this.show();
    const button = this.root.getByRole("button", { name: new RegExp(`^Save .*\\b${format}\\b`) });
    await button.focus();
    const [download] = await Promise.all([this.page.waitForEvent("download", { timeout: SHORT }), this.page.keyboard.press("Enter")]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
  }

  /** How many buttons stand below the figure. */
  buttons() {
    return this.root.locator(".memorywall-foot button").count();
  }

  /** What the live chart shows now, written as the static pictures are: without paper, and with the figure's id in ids. */
  async onScreen() {
    await this.drawn();
    return this.root.evaluate((root, id) => {
      const { painter } = window.echarts.getInstanceByDom(root.querySelector(".memorywall-live")).getZr();
      const svg = painter.renderToString({ cssAnimation: false, cssEmphasis: false, useViewBox: true });
      return `${window.memorywall.resolved(root, window.memorywall.picture.tidy(svg)).replace(/\bzr\d+-/g, `${id}-`)}\n`;
    }, this.id);
  }

  /** The static picture's own SVG. */
  async source() {
    const src = await this.root.locator(".memorywall-stage img").getAttribute("src");
    return Buffer.from(src.replace(/^[^,]*,/, ""), "base64").toString("utf8");
  }

  /** What the page says of a PNG: its size, how many colours it has, and whether any of it is transparent. */
  decode(bytes) {
    return this.page.evaluate(async (base64) => {
      const image = new Image();
      image.src = `data:image/png;base64,${base64}`;
      await image.decode();
      const canvas = document.createElement("canvas");
      canvas.width = image.naturalWidth;
      canvas.height = image.naturalHeight;
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      const pixels = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
      const colours = new Set(pixels);
      return { width: canvas.width, height: canvas.height, colours: colours.size, opaque: [...colours].every((c) => c >>> 24 === 255) };
    }, bytes.toString("base64"));
  }

  look() {
    return this.root.evaluate((root) => {
      const size = (node) => node && { width: node.getBoundingClientRect().width, height: node.getBoundingClientRect().height };
      const seen = (node) => Boolean(node && node.checkVisibility() && node.getBoundingClientRect().width > 0);
      const data = JSON.parse(root.querySelector('script[type="application/json"]')?.textContent ?? "null");
      const picture = root.querySelector(".memorywall-stage img");
      const lives = [...root.querySelectorAll(".memorywall-live")];
      const svg = lives[0]?.querySelector("svg");
      return {
        option: JSON.stringify(data?.option),
        csv: data?.csv,
        declared: data && { width: data.width, height: data.height },
        stage: size(root.querySelector(".memorywall-stage")),
        cut: Math.max(0, root.scrollWidth - root.closest(".jp-OutputArea-output").clientWidth),
        lives: lives.length,
        svg: size(svg),
        shapes: svg?.querySelectorAll("path, circle, polyline, rect").length ?? 0,
        words: [...(svg?.querySelectorAll("text") ?? [])].map((text) => ({ text: text.textContent, colour: getComputedStyle(text).fill })),
        paper: getComputedStyle(root.closest(".jp-Notebook")).backgroundColor,
        picture: picture && {
          seen: seen(picture), alt: picture.alt, loaded: picture.complete && picture.naturalWidth > 0, ...size(picture),
        },
        table: root.querySelectorAll("details table tr").length,
      };
    });
  }

  /** Points at the middle datum of each series in turn; returns the tooltips' texts. */
  async tooltips() {
    await this.show();
    const points = await this.root.evaluate((root) => {
      const box = root.querySelector(".memorywall-live");
      const chart = window.echarts.getInstanceByDom(box);
      const { series } = chart.getOption();
      return series
        .map((one, index) => ({ one, index }))
        .filter(({ one }) => one.silent !== true && one.data?.length > 0)
        .map(({ one, index }) => {
          const datum = one.data[Math.floor((one.data.length - 1) / 2)];
          const [x, y] = chart.convertToPixel({ seriesIndex: index }, datum.value ?? datum);
          return { series: one.name, x, y };
        });
    });
    const texts = [];
    for (const { series, x, y } of points) {
      await this.root.locator(".memorywall-live").hover({ position: { x, y }, force: true });
      const text = await until(
        `a tooltip with text at the middle datum of series "${series}" of ${this.id}, ${Math.round(x)},${Math.round(y)}`,
        () => this.tooltip(),
      );
      texts.push({ series, text });
      await this.page.mouse.move(0, 0);
      await until(`an end of the tooltip of ${this.id}`, async () => !(await this.tooltip()));
    }
    return texts;
  }

  tooltip() {
    return this.root.evaluate((root) =>
      [...root.querySelectorAll(".memorywall-live > div")]
        .filter((node) => !node.querySelector("svg") && node.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
        .map((node) => node.innerText.trim())
        .find((text) => text !== ""),
    );
  }
}
