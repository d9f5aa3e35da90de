// What the test files share: tests in a window of the browser, what they demand,
// and an end of all that they started.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { endAll } from "./lab.mjs";

/** Whether to keep pictures of everything. */
export const SHOTS = Boolean(process.env.MEMORYWALL_BROWSER_SHOTS);

// However the tests are ended, they exit, and then they end what they started.
process.once("exit", endAll);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));

/**
 * Returns inWindow(name, define), for tests that share one window; what the
 * window shows is kept when one fails. Their names begin with that of the
 * window: the list of failures has no other. In milliseconds: limit is the most
 * that a test takes, timeout the most that the window waits for something (as
 * long as the browser's windows do without it).
 */
export function windowsOf(browser, { limit, timeout }) {
  return function inWindow(name, define) {
    describe(name, () => {
      let window;
      before(async () => (window = await browser().open(name.replace(/\W+/g, "-"), timeout)));
      after(() => window.close());
      define((what, action) =>
        test(`${name}: ${what}`, { timeout: limit }, async (t) => {
          try {
            await action(window, t);
          } catch (error) {
            await window.keep(what);
            throw error;
          }
        }),
      );
    });
  };
}

/** Fails with the first line of each complaint, if there is any. */
export function assertNone(what, complaints) {
  if (complaints.length === 0) return;
  const lines = [...new Set(complaints.map((complaint) => complaint.split("\n")[0]))];
  assert.fail(`${what}:\n${lines.slice(0, 20).join("\n")}`);
}

/** Ratio of the luminances of two colours, rgb(…) each, from 1 to 21 (WCAG 2.1, contrast ratio). */
export function contrast(...colours) {
  const [dark, light] = colours
    .map((colour) => {
      const [r, g, b] = colour
        .match(/[\d.]+/g)
        .map((part) => part / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    })
    .sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}
