// The pages that ./scripts/site builds, as a reader meets them: from disk and
// from a server, in a real Chromium. ./scripts/test site runs these tests;
// MEMORYWALL_SITE is the folder with the pages (site/ without it).

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { HtmlValidate } from "html-validate";
import { ROOT } from "./chapters.mjs";
import { Browser } from "./lab.mjs";
import { assertNone, contrast, windowsOf } from "./testing.mjs";
import { SHORT, until } from "./wait.mjs";

const SITE = resolve(process.env.MEMORYWALL_SITE || join(ROOT, "site"));
const FILES = new URL(`${pathToFileURL(SITE)}/`);
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const LIMIT = 120_000;

if (!existsSync(join(SITE, "index.html"))) throw new Error(`${SITE} has no index.html: build it with ./scripts/site`);
const pages = readdirSync(SITE).filter((name) => name.endsWith(".html")).sort();
const chapters = ["index.html", ...pages.filter((name) => /^\d/.test(name))];

let browser, server, origin;
const inWindow = windowsOf(() => browser, { limit: LIMIT, timeout: SHORT });

before(async () => {
  browser = await Browser.start();
  server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  // Under a path of its own, as a site beside others has it.
  origin = `http://127.0.0.1:${server.address().port}/some/where/`;
});

after(async () => {
  server?.closeAllConnections();
  server?.close();
  await browser?.stop();
});

const TYPES = { ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml" };

/** A static server, and nothing more. */
function answer(request, response) {
  const path = decodeURIComponent(new URL(request.url, "http://x").pathname);
  const file = join(SITE, normalize(path.replace(/^\/some\/where\//, "/")));
  if (!path.startsWith("/some/where/") || !existsSync(file) || !statSync(file).isFile()) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" }).end(readFileSync(file));
}

// ------------------------------------------------------------ what is there

const openAll = (page) => page.evaluate(() => document.querySelectorAll("details").forEach((fold) => (fold.open = true)));
const theme = (page, name) => page.locator("#theme").selectOption(name);
const figures = (page) => page.locator(".memorywall-figure").evaluateAll((all) => all.map((one) => one.id));

/** Brings a figure into the middle of the window and waits until it is live; returns its texts. */
async function drawn(page, id) {
  const figure = page.locator(`[id="${id}"]`);
  await figure.evaluate((node) => node.querySelector(".memorywall-stage").scrollIntoView({ block: "center", behavior: "instant" }));
  await figure.locator(".memorywall-live svg").waitFor({ state: "visible", timeout: 30_000 });
  return figure.evaluate((node) => ({
    lives: node.querySelectorAll(".memorywall-live").length,
    picture: [...node.querySelectorAll(".memorywall-stage > img")].map((image) => ({ seen: image.checkVisibility(), alt: image.alt })),
    words: [...node.querySelectorAll(".memorywall-live svg text")].map((word) => ({ text: word.textContent, colour: getComputedStyle(word).fill })),
    paper: getComputedStyle(document.documentElement).backgroundColor,
  }));
}

/** What is wrong with the texts of a figure as the browser draws them: two that share area, or one that is cut. */
const troubles = (page, id) => page.locator(`[id="${id}"]`).evaluate((figure) => {
  const svg = figure.querySelector(".memorywall-live svg");
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].filter((node) => node.checkVisibility()).map((node) => {
    const { x, y, width, height } = node.getBBox(), matrix = node.getScreenCTM();
    const rim = 0.16 * height; // above and below the letters, empty
    const corners = [[x, y + rim], [x + width, y + rim], [x + width, y + height - rim], [x, y + height - rim]];
    return { text: node.textContent, quad: corners.map(([px, py]) => new DOMPoint(px, py).matrixTransform(matrix)) };
  });
  // Two quadrilaterals are apart where a line along a side of one has them on two sides.
  const apart = (one, p, q) => one.some((from, i) => {
    const to = one[(i + 1) % 4];
    const range = (quad) => quad.map((at) => (at.x - from.x) * (from.y - to.y) + (at.y - from.y) * (to.x - from.x));
    return Math.max(...range(p)) <= Math.min(...range(q)) || Math.max(...range(q)) <= Math.min(...range(p));
  });
  return texts.flatMap((one, i) => [
    ...texts.slice(i + 1).filter((other) => !apart(one.quad, one.quad, other.quad) && !apart(other.quad, one.quad, other.quad)).map((other) => `"${one.text}" lies on "${other.text}"`),
    ...(one.quad.some((at) => at.x < frame.left - 1 || at.x > frame.right + 1 || at.y < frame.top - 1 || at.y > frame.bottom + 1) ? [`"${one.text}" is cut`] : []),
  ]);
});

/** Points at the middle datum of a figure's first series and returns what the tooltip says. */
async function tooltip(page, id) {
  const figure = page.locator(`[id="${id}"]`);
  const at = await figure.evaluate((node) => {
    const box = node.querySelector(".memorywall-live");
    const chart = window.echarts.getInstanceByDom(box);
    const series = chart.getOption().series;
    const index = series.findIndex((one) => one.silent !== true && one.data?.length > 0);
    const datum = series[index].data[Math.floor((series[index].data.length - 1) / 2)];
    const [x, y] = chart.convertToPixel({ seriesIndex: index }, datum.value ?? datum);
    const { left, top } = box.getBoundingClientRect();
    return { x: left + x, y: top + y };
  });
  await page.mouse.move(at.x, at.y);
  const text = await until(`a tooltip on ${id}`, () => figure.evaluate((node) =>
    [...node.querySelectorAll(".memorywall-live > div")]
      .filter((one) => !one.querySelector("svg") && one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
      .map((one) => one.innerText.trim()).find(Boolean)));
  await page.mouse.move(0, 0);
  return text;
}

/** What reaches beyond the right edge of the window and is not in a box that scrolls. */
const beyond = (page) => page.evaluate(() => {
  const width = document.documentElement.clientWidth;
  const out = [...document.body.querySelectorAll("*")].filter((node) =>
    node instanceof HTMLElement && node.checkVisibility() && !node.closest(".scroll, pre, .formula, .skip") &&
    node.getBoundingClientRect().right > width + 1);
  return [
    ...(document.documentElement.scrollWidth > width ? [`the page is ${document.documentElement.scrollWidth} wide in a window of ${width}`] : []),
    ...out.map((node) => `${node.tagName}.${node.className}: ${node.innerText.slice(0, 60)}`),
  ];
});

// ------------------------------------------------------------------ each page

const validator = new HtmlValidate({
  extends: ["html-validate:standard", "html-validate:a11y"],
  rules: { "void-style": "off" },
});

for (const name of pages) {
  test(`${name}: valid HTML`, { timeout: LIMIT }, async () => {
    const report = await validator.validateString(readFileSync(join(SITE, name), "utf8"), name);
    assertNone("what the validator says", report.results.flatMap((result) =>
      result.messages.map((message) => `${message.line}:${message.column} ${message.ruleId}: ${message.message}`)));
  });

  inWindow(name, (step) => {
    step("opens from disk, in the language and with the title that it should", async ({ page }) => {
      await page.emulateMedia({ colorScheme: "light" });
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(new URL(name, FILES).href);
      const said = await page.evaluate(() => ({
        lang: document.documentElement.lang, title: document.title, h1: [...document.querySelectorAll("h1")].map((one) => one.textContent),
        main: document.querySelectorAll("main").length, current: [...document.querySelectorAll('#contents [aria-current="page"]')].map((one) => one.textContent),
        levels: [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].map((one) => Number(one.tagName[1])),
      }));
      assert.equal(said.lang, "en");
      assert.equal(said.main, 1);
      assert.equal(said.h1.length, 1);
      assert.ok(said.title.startsWith(said.h1[0]), said.title);
      assert.deepEqual(said.current, said.h1);
      said.levels.reduce((before, level) => {
        assert.ok(level <= before + 1, `a heading of level ${level} below one of level ${before}`);
        return level;
      }, 0);
    });

    step("its figures are drawn when they come near, and answer to the pointer", async ({ page }) => {
      const ids = await figures(page);
      const lives = await page.locator(".memorywall-live").count();
      assert.ok(ids.length < 4 || lives < ids.length, `${lives} of ${ids.length} figures were drawn at once`);
      for (const id of ids) {
        const look = await drawn(page, id);
        assert.equal(look.lives, 1, id);
        assert.equal(look.picture.length, 1, `the static picture of ${id}`);
        assert.equal(look.picture[0].seen, false, `the static picture of ${id} is seen beside the chart`);
        assert.ok(look.picture[0].alt.length > 20, `${id} says in words what it shows`);
        assert.ok(look.words.length > 3, `${id} has texts`);
        assert.ok((await tooltip(page, id)).length > 0);
      }
    });

    step("its figures are as wide as the page has room for, and no text in them overlaps another or is cut", async ({ page }) => {
      const ids = await figures(page);
      for (const width of [360, 400, 800, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        for (const id of ids) {
          await drawn(page, id);
          await until(`${id} to fit into ${width} pixels`, () => page.locator(`[id="${id}"]`).evaluate((figure) => {
            const [live, room] = [figure.querySelector(".memorywall-live").offsetWidth, figure.clientWidth];
            return live === Math.min(room, JSON.parse(figure.querySelector('script[type="application/json"]').textContent).width);
          }));
          assert.deepEqual(await troubles(page, id), [], `${id}, ${width} pixels wide`);
          const titles = await page.locator(`figure:has([id="${id}"])`).evaluate((figure) => {
            const title = JSON.parse(figure.querySelector('script[type="application/json"]').textContent).option.title.text;
            return figure.innerText.replace(/\s+/g, " ").split(title.replace(/\s+/g, " ")).length - 1;
          });
          assert.ok(titles <= 1, `${id} says its title ${titles} times`);
        }
      }
    });

    step("dark and light, at a switch, figures too", async ({ page }) => {
      await page.setViewportSize({ width: 1440, height: 900 }); // whatever the step before left
      const ids = await figures(page);
      for (const choice of ["dark", "light"]) {
        await theme(page, choice);
        assert.equal(await page.evaluate(() => document.body.dataset.jpThemeLight), String(choice === "light"));
        for (const id of ids) {
          let faint;
          await until(() => `texts of ${id} that stand out from the ${choice} page: ${faint.join(", ")}`, async () => {
            const { words, paper } = await drawn(page, id);
            faint = words.filter((word) => !(contrast(word.colour, paper) >= 3)).map((word) => `${word.text} (${word.colour} on ${paper})`);
            return faint.length === 0;
          });
        }
      }
    });

    step("nothing sticks out of a wide, a middle or a narrow window, folded or open", async ({ page }) => {
      for (const width of [1440, 1000, 360]) {
        await page.setViewportSize({ width, height: 800 });
        await page.evaluate(() => new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 100))); // figures follow
        assertNone(`at ${width} pixels`, await beyond(page));
      }
      await openAll(page);
      assertNone("at 360 pixels, all open", await beyond(page));
      await page.setViewportSize({ width: 1440, height: 900 });
      assertNone("at 1440 pixels, all open", await beyond(page));
    });

    step("formulas fit a phone, and drawings and pictures have their narrow form", async ({ page }) => {
      await page.setViewportSize({ width: 400, height: 800 });
      await openAll(page);
      await until("formulas that fit", () => page.evaluate(() => [...document.querySelectorAll(".formula")].every((box) => box.scrollWidth <= box.clientWidth + 1)));
      const wide = await page.evaluate(() => [...document.querySelectorAll(".memorywall-drawing img")].filter((image) => image.checkVisibility() && image.naturalWidth > 400).map((image) => image.alt));
      assertNone("drawings in their wide form", wide);
      await page.setViewportSize({ width: 1440, height: 900 });
    });

    step("axe finds nothing serious, light and dark, wide and narrow", async ({ page }) => {
      await page.addScriptTag({ path: AXE });
      // The second time, what colours and width can change.
      for (const [choice, width, rules] of [["light", 1440], ["dark", 360, ["color-contrast", "link-in-text-block", "scrollable-region-focusable"]]]) {
        await theme(page, choice);
        await page.setViewportSize({ width, height: 900 });
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        const found = await page.evaluate(async (rules) => {
          const { violations, passes } = await window.axe.run(document, { resultTypes: ["violations"], preload: false, ...(rules && { runOnly: rules }) }); // a file: page can load nothing
          return {
            passes: passes.length,
            bad: violations.filter((one) => ["serious", "critical"].includes(one.impact)).flatMap((one) =>
              one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 150)} (${(node.any[0] ?? node.all[0] ?? node.none[0])?.message ?? ""})`)),
          };
        }, rules);
        assert.ok(found.passes > (rules ? 0 : 10), "axe has tested something");
        assertNone(`${choice}, ${width} pixels`, found.bad);
      }
      await page.setViewportSize({ width: 1440, height: 900 }); // a narrow page has its settings in the menu
      await theme(page, "system");
    });

    step("prints whole: pictures, answers open, no navigation", async ({ page }) => {
      await page.reload();
      await page.setViewportSize({ width: 658, height: 900 }); // A4 without its margins
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      await page.waitForFunction(() => document.body.dataset.jpThemeLight === "true");
      const look = await page.evaluate(async () => {
        await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
        const all = (selector) => [...document.querySelectorAll(selector)];
        const seen = (node) => node.checkVisibility({ contentVisibilityAuto: true });
        const cut = (node) => node instanceof HTMLElement && seen(node) && !node.closest(".katex-mathml") && (node.getBoundingClientRect().right > innerWidth + 1 ||
          (getComputedStyle(node).overflowX !== "visible" && node.scrollWidth > node.clientWidth + 1));
        return {
          paper: getComputedStyle(document.documentElement).backgroundColor,
          navigation: all(".skip, .top, #contents, .pager, .bottom, .run").filter(seen).map((node) => node.className || node.id),
          hidden: all("details.answer").filter((fold) => ![...fold.children].some((child) => child.tagName !== "SUMMARY" && seen(child) && child.getBoundingClientRect().height > 0)).length,
          answers: all("details.answer").length,
          pictures: all(".memorywall-stage").filter((stage) => ![...stage.querySelectorAll("img")].some((image) => seen(image) && image.naturalWidth > 0)).length,
          lives: all(".memorywall-live").filter(seen).length,
          // The title is in the picture. Controls and remarks on them are for the screen.
          screen: all(".memorywall-save, .mwx-form, .mwx-sorry, .code > summary, .answer > summary").filter(seen).map((node) => `${node.tagName}.${node.className}: ${node.textContent.slice(0, 60)}`),
          dim: all("main img").filter((image) => getComputedStyle(image).filter !== "none").length,
          cut: all("main *").filter(cut).map((node) => `${node.tagName}.${node.className}: ${node.innerText.slice(0, 60)}`),
        };
      });
      assert.equal(contrast(look.paper, "rgb(255, 255, 255)"), 1, `the paper is ${look.paper}`);
      assertNone("navigation on paper", look.navigation);
      assert.equal(look.hidden, 0, `answers of ${look.answers} that are not printed`);
      assert.equal(look.pictures, 0, "figures without a picture");
      assert.equal(look.lives, 0, "live charts on paper");
      assertNone("printed, though it makes sense on a screen alone", look.screen);
      assert.equal(look.dim, 0, "pictures that are printed less bright");
      assertNone("cut off", look.cut);
      await page.emulateMedia({ media: null, colorScheme: "light" });
      await until("an end of the open answers, after printing", async () => (await page.locator("details.answer[open]").count()) === 0);
    });

    step("its contents lead to its sections and follow the reader", async ({ page }) => {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(new URL(name, FILES).href); // a page that was loaded again goes back to where it was
      await page.evaluate(() => (document.documentElement.style.scrollBehavior = "auto"));
      const links = page.locator('#contents a[href^="#"]');
      const sections = await page.locator("article :is(h2, h3)").evaluateAll((all) => all.map((one) => one.id));
      assert.deepEqual(await links.evaluateAll((all) => all.map((one) => decodeURIComponent(one.hash.slice(1)))), sections);
      for (const at of new Set([0, Math.floor(sections.length / 2)])) {
        if (sections.length === 0) continue;
        await links.nth(at).click();
        let top, header, marked;
        await until(() => `${sections[at]} to be marked (${marked}) and in sight: it is ${top} pixels from the top, below a header of ${header}`, async () => {
          marked = await page.locator('#contents [aria-current="location"]').evaluateAll((all) => all.map((one) => one.hash).join());
          top = await page.locator(`[id="${sections[at]}"]`).evaluate((node) => node.getBoundingClientRect().top);
          header = await page.locator(".top").evaluate((node) => node.getBoundingClientRect().bottom);
          return decodeURIComponent(marked) === `#${sections[at]}` && top >= header - 1 && top < 300;
        });
      }
    });

    step("it logs no error and asks no other host", (window) => assertNone("what the browser says", window.complaints));
  });
}

// -------------------------------------------------------------- across pages

inWindow("links", (step) => {
  step("every link, style sheet, script and picture of every page leads somewhere", async ({ page }) => {
    const seen = new Map();
    for (const name of pages) {
      await page.goto(new URL(name, FILES).href);
      seen.set(name, await page.evaluate((site) => ({
        ids: [...document.querySelectorAll("[id]")].map((one) => one.id),
        links: [...document.querySelectorAll("[href], [src]")].filter((one) => one.namespaceURI.endsWith("xhtml"))
          .map((one) => (one.getAttribute("href") ?? one.getAttribute("src")).replace(site, "")), // explorers name the whole address
      }), FILES.href));
    }
    const lost = [];
    let inside = 0;
    for (const [name, { links }] of seen) {
      for (const link of links.filter((one) => !/^(https?|data|mailto):/.test(one))) {
        inside++;
        const [path, hash] = link.split("#");
        const file = path === "" ? name : decodeURIComponent(path);
        if (!existsSync(join(SITE, file))) lost.push(`${name}: ${link} is not there`);
        else if (hash && !seen.get(file)?.ids.includes(decodeURIComponent(hash))) lost.push(`${name}: ${link} has no such anchor`);
      }
      // Nothing but a link that the reader follows may name another host.
      const html = readFileSync(join(SITE, name), "utf8");
      for (const [, tag] of html.matchAll(/<(\w+)\b[^>]*\s(?:src|srcset|poster)="(?:https?:)?\/\//g)) lost.push(`${name}: <${tag}> asks another host`);
    }
    assert.ok(inside > 100, `${inside} links`);
    assertNone("dead ends", lost);
  });

  step("Next leads from the first chapter to the last, and Previous back", async ({ page }) => {
    await page.goto(new URL("index.html", FILES).href);
    for (const [rel, route] of [["next", chapters], ["prev", [...chapters].reverse()]]) {
      for (const [i, name] of route.entries()) {
        assert.equal(page.url(), new URL(name, FILES).href);
        const link = page.locator(`.pager [rel="${rel}"]`);
        if (i < route.length - 1) await Promise.all([page.waitForURL(new URL(route[i + 1], FILES).href), link.click()]);
        else assert.equal(await link.count(), 0);
      }
    }
  });

  step("JupyterLab's name of a heading leads to it, and a target that is folded away is opened", async ({ page }) => {
    await page.goto(new URL("02_roofline.html#By-hand:-a-toy-chip", FILES).href);
    await until("the page's own name of the heading", () => page.url().endsWith("#by-hand-a-toy-chip"));
    await page.goto(new URL("index.html", FILES).href);
    await page.evaluate(() => {
      document.querySelector("details.answer p").id = "inside";
      location.hash = "#inside";
    });
    await until("the fold to open", () => page.locator("#inside").isVisible());
  });
});

// Both ways to open the pages keep what the reader chose.
for (const where of ["disk", "server"]) {
  const at = (name) => new URL(name, where === "disk" ? FILES : origin).href;
  inWindow(`settings, from ${where}`, (step) => {
    step("code as written, shown, folded: remembered from page to page", async ({ page }) => {
      await page.goto(at("02_roofline.html"));
      const states = () => page.locator("details.code").evaluateAll((all) => all.map((one) => one.open));
      const written = await states();
      assert.ok(written.includes(true) && written.includes(false), "some code is folded and some is not");
      for (const [choice, open] of [["folded", false], ["shown", true]]) {
        await page.locator("#code").selectOption(choice);
        assert.ok((await states()).every((one) => one === open), choice);
        await page.goto(at("03_naive_versus_compulsory.html"));
        assert.equal(await page.locator("#code").inputValue(), choice);
        assert.ok((await states()).every((one) => one === open), `${choice}, on the next page`);
        await page.goto(at("02_roofline.html"));
      }
      await page.locator("#code").selectOption("written");
      assert.deepEqual(await states(), written);
    });

    step("the theme follows the system until the reader chooses, and the choice is remembered", async ({ page }) => {
      const light = () => page.evaluate(() => [document.body.dataset.jpThemeLight, getComputedStyle(document.documentElement).backgroundColor]);
      const system = async (colorScheme) => {
        await page.emulateMedia({ colorScheme });
        return until(`a ${colorScheme} page`, async () => {
          const [said, paper] = await light();
          return said === String(colorScheme === "light") && paper;
        });
      };
      const dark = await system("dark");
      const white = await system("light");
      assert.notEqual(white, dark);
      await theme(page, "dark");
      assert.deepEqual(await light(), ["false", dark]);
      await page.goto(at("index.html"));
      assert.equal(await page.locator("#theme").inputValue(), "dark");
      assert.deepEqual(await light(), ["false", dark]);
      await theme(page, "system");
      assert.deepEqual(await light(), ["true", white]);
    });

    step("it logs no error and asks no other host", (window) => assertNone("what the browser says", window.complaints));
  });
}

inWindow("from a server, under a path", (step) => {
  step("every page opens, and its first figure is live", async ({ page }) => {
    for (const name of pages) {
      await page.goto(new URL(name, origin).href);
      const [first] = await figures(page);
      if (first) assert.equal((await drawn(page, first)).lives, 1, `${first} of ${name}`);
      assert.ok(await page.evaluate(() => [...document.fonts].every((font) => font.status !== "error")), `fonts of ${name}`);
    }
  });

  step("it logs no error and asks no other host", (window) => assertNone("what the browser says", window.complaints));
});

inWindow("keyboard only", (step) => {
  for (const [width, what] of [[1440, "wide"], [360, "narrow"]]) {
    step(`everything can be reached and used in a ${what} window`, async ({ page }) => {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(new URL("02_roofline.html", FILES).href);
      const focus = () => page.evaluate(() => {
        const node = document.activeElement;
        const box = node.getBoundingClientRect();
        return {
          at: node.id || node.className || node.textContent.trim().slice(0, 40), tag: node.tagName, role: node.getAttribute("role"), fold: node.parentElement?.className,
          rel: node.getAttribute("rel"), hidden: box.width === 0 || box.right < 0 || !node.checkVisibility(), outline: getComputedStyle(node).outlineStyle, href: node.getAttribute("href"),
        };
      });
      await page.keyboard.press("Tab");
      assert.equal((await focus()).at, "skip", "the first thing");
      assert.ok((await page.locator(".skip").boundingBox()).x >= 0, "the skip link can be seen");
      await page.keyboard.press("Enter");
      assert.equal((await focus()).at, "content", "the skip link leads to the text");
      await page.goto(new URL("02_roofline.html", FILES).href);

      const passed = [];
      for (let tabs = 0; tabs < 400; tabs++) {
        await page.keyboard.press("Tab");
        const now = await focus();
        if (now.tag === "BODY") break;
        passed.push(now);
        assert.equal(now.hidden, false, `the focus is on something hidden: ${now.at}`);
        assert.notEqual(now.outline, "none", `the focus cannot be seen on ${now.at}`);
        if (now.tag === "SUMMARY" && now.fold === "answer") {
          const open = () => page.evaluate(() => document.activeElement.parentElement.open);
          await page.keyboard.press("Enter");
          assert.equal(await open(), true, "Enter opens an answer");
          await page.keyboard.press(" ");
          assert.equal(await open(), false, "the space bar closes it");
        }
        if (now.rel === "next") break;
      }
      const order = (what === "wide" ? ["brand", "code", "theme"] : ["brand", "menu"]).map((one) => passed.findIndex((now) => now.at === one));
      assert.ok(order.every((at, i) => at >= 0 && (i === 0 || at > order[i - 1])), `${order}`);
      for (const [name, test] of Object.entries({
        "code's folds": (now) => now.fold === "code", answers: (now) => now.fold === "answer", "the numbers of figures": (now) => now.fold === "numbers",
        "the previous chapter": (now) => now.rel === "prev", "the next chapter": (now) => now.rel === "next",
      })) assert.ok(passed.some(test), name);

      if (what === "wide") {
        assert.ok(passed.some((now) => now.href === "#the-formula"), "the contents");
      } else {
        assert.ok(!passed.some((now) => now.href === "#the-formula"), "contents that are not shown are passed over");
        assert.ok(passed.some((now) => now.role === "group"), "boxes that scroll");
        await page.locator("#menu").focus();
        await page.keyboard.press("Enter");
        assert.equal(await page.locator("#contents").isVisible(), true);
        for (const next of ["code", "theme"]) {
          await page.keyboard.press("Tab");
          assert.equal((await focus()).at, next, "the settings come next");
        }
        await page.keyboard.press("Tab");
        assert.equal((await focus()).href, "index.html", "and then the contents");
        await page.keyboard.press("Escape");
        assert.equal(await page.locator("#contents").isVisible(), false);
        assert.equal((await focus()).at, "menu");
      }
      await page.locator('.pager [rel="next"]').focus();
      await Promise.all([page.waitForURL(/03_naive/), page.keyboard.press("Enter")]);
    });
  }
});

describe("without scripts", () => {
  test("the pictures, the contents and the folds are there", { timeout: LIMIT }, async () => {
    const context = await browser.chromium.newContext({ javaScriptEnabled: false, viewport: { width: 360, height: 800 } });
    try {
      const page = await context.newPage();
      await page.goto(new URL("02_roofline.html", FILES).href);
      assert.ok(await page.locator("#contents").isVisible());
      const pictures = page.locator(".memorywall-stage > img");
      for (let i = 0; i < (await pictures.count()); i++) assert.ok(await pictures.nth(i).isVisible());
      const answer = page.locator("details.answer").first();
      await answer.locator("summary").click();
      assert.ok(await answer.locator("p").first().isVisible());
      assert.equal(await page.locator(".settings").isVisible(), false, "settings that would do nothing");
    } finally {
      await context.close();
    }
  });
});

describe("on paper", () => {
  test("a chapter becomes a PDF of several sheets, with its answers", { timeout: LIMIT }, async () => {
    const window = await browser.open("pdf");
    try {
      await window.page.goto(new URL("02_roofline.html", FILES).href);
      await window.page.evaluate(() => {
        window.printed = 0;
        matchMedia("print").addEventListener("change", (now) => { if (now.matches) window.printed = document.querySelectorAll("details.answer[open]").length; });
      });
      const pdf = (await window.page.pdf({ format: "A4" })).toString("latin1");
      assert.match(pdf, /^%PDF/);
      assert.ok(Number(/\/Count (\d+)/.exec(pdf)[1]) > 3, "sheets");
      assert.ok((await window.page.evaluate(() => window.printed)) > 0, "answers are open on paper");
    } finally {
      await window.close();
    }
  });
});

test("no page asked another host", async () => {
  await browser.stop();
  const { outside } = browser.asked();
  browser = undefined;
  assertNone("requests to other hosts", outside);
});
