// How the tests wait: until something holds, and no longer than a limit.

// Limits for what takes a moment on an idle machine, and a long one on a busy
// machine, in milliseconds. Nothing waits longer than it must.
export const SHORT = 30_000;
export const LONG = 120_000;

// How often a page is asked whether it is ready. Playwright would ask at each
// frame, which also makes the page draw that often.
export const POLL = { polling: 100 };

/** Resolves when the condition holds; fails with what it says after the limit. */
export async function until(what, condition, limit = SHORT) {
  const end = Date.now() + limit;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`not within ${limit / 1000} s: ${typeof what === "function" ? await what() : what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}
