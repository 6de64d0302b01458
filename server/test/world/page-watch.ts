/** Watches a browser page for problems that must not occur on any page. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { eventually } from '../service.ts';

export type PageWatch = {
  /** Waits until all the page's requests have completed. */
  settled(): Promise<void>;
  /** Fails with everything that went wrong since the last call. */
  assertWell(what: string, allowed?: Allowed): Promise<void>;
};

export type Allowed = {
  /** Expected error responses, such as `404 /v1/content/`. */
  answers?: RegExp;
  /** Whether it may be without text, like a slide. */
  isWordless?: boolean;
};

/** Texts that only bugs produce. */
const mistakes = /\bundefined\b|\bNaN\b|\[object \w+\]|Invalid Date|\bnull\b%|Infinity/;

/** Streams stay open and don't keep a page from being settled. */
const endless = /\/v1\/events\/stream|\.m3u8|\.m4s|\.mp4|^blob:|^data:/;

export function watchPage(page: Page): PageWatch {
  const problems: string[] = [];
  const answers: string[] = [];
  const open = new Set<object>();
  page.on('pageerror', (error) => problems.push(`uncaught: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    // A failed request is judged by its response.
    const isOfRequest = /Failed to load resource/.test(message.text());
    if (message.type() === 'error' && !isOfRequest) problems.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (!endless.test(request.url())) open.add(request);
  });
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (response.status() >= 400) answers.push(`${response.status()} ${pathname}`);
  });
  return {
    async settled() {
      await eventually('the page to have its answers', async () => {
        if (open.size > 0) return null;
        // What has arrived must be rendered, and may cause the next request.
        await page.evaluate(
          () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))),
        );
        return open.size === 0 ? true : null;
      });
    },
    async assertWell(what, { answers: expected, isWordless = false } = {}) {
      const found = problems.splice(0);
      for (const answer of answers.splice(0)) {
        if (expected?.test(answer) !== true) found.push(`answered ${answer}`);
      }
      const state = await page.evaluate(() => ({
        text: document.body.innerText,
        wasBroken: Reflect.has(globalThis, 'reelfeedBroken'),
        overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      }));
      const mistake = mistakes.exec(state.text);
      if (mistake !== null) {
        const around = state.text.slice(Math.max(0, mistake.index - 60), mistake.index + 60);
        found.push(`it says "${mistake[0]}": …${around.replaceAll('\n', ' | ')}…`);
      }
      if (state.wasBroken) found.push('a hostile text was run as a script');
      if (state.overflow > 1) found.push(`it is ${state.overflow} px wider than its window`);
      if (!isWordless && state.text.trim().length < 40) found.push(`it is empty: ${state.text}`);
      assert.deepEqual(found, [], what);
    },
  };
}
