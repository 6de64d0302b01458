/** The console in a real browser, signed in, with a mouse and a keyboard to operate it. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { launchBrowser } from '../browser.ts';
import { startService, type TestService } from '../service.ts';
import { until } from '../waiting.ts';

/** Input by mouse (pointing) or by keyboard (Tab only, never the mouse). */
export type Hand = {
  name: 'mouse' | 'keyboard';
  press: (target: Locator, key?: string) => Promise<void>;
  write: (target: Locator, text: string) => Promise<void>;
};

export type ConsolePage = {
  service: TestService;
  browser: Browser;
  page: Page;
  /** Errors logged by the page. */
  errors: string[];
  mouse: Hand;
  keyboard: Hand;
  button: (name: string | RegExp) => Locator;
  link: (name: string) => Locator;
  heading: (name: string) => Locator;
  /** Opens a view through the navigation. */
  open: (hand: Hand, view: string) => Promise<void>;
  /** Moves the focus there with Tab alone. */
  walkTo: (target: Locator) => Promise<void>;
  /** Reloads at an address, so that nothing left open is in the way. */
  start: (view?: string) => Promise<void>;
};

export type ConsoleOptions = { skip: string } | { timeout: number };

/**
 * Starts a service and a browser. Without a browser, `console` is null and `options` skips the
 * tests.
 */
export async function startConsole(
  env: Record<string, string> = {},
): Promise<{ options: ConsoleOptions; console: ConsolePage | null }> {
  const service = await startService(env);
  const { browser, reason } = await launchBrowser();
  if (browser === null) return { options: { skip: reason }, console: null };
  after(() => browser.close());
  const context = await browser.newContext({
    viewport: { width: 1440, height: 1_000 },
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(90_000);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    // The first request of a page that is not signed in is rejected as expected.
    const isExpected = message.text().includes('401');
    if (message.type() === 'error' && !isExpected) errors.push(message.text());
  });
  return {
    options: { timeout: 180_000 },
    console: { service, browser, page, errors, ...handsOn(page), ...pathsOn(page, service) },
  };
}

/**
 * Takes wide and narrow screenshots of the page into the folder named by
 * `REELFEED_TEST_SCREENSHOTS`, if set.
 */
export async function takePictures(page: Page, name: string): Promise<void> {
  const folder = process.env['REELFEED_TEST_SCREENSHOTS'];
  if (folder === undefined) return;
  const size = page.viewportSize();
  for (const width of [390, 1_440]) {
    await page.setViewportSize({ width, height: width === 390 ? 844 : 1_000 });
    await page.screenshot({ path: path.join(folder, `${name}-${width}.png`) });
  }
  if (size !== null) await page.setViewportSize(size);
}

/** Changes the color scheme and waits until all finite animations have ended. */
export async function changeColors(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
  await page.waitForFunction(() =>
    document
      .getAnimations()
      .every(
        ({ playState, effect }) =>
          playState !== 'running' || effect?.getTiming().iterations === Infinity,
      ),
  );
}

const maxSteps = 150;

function handsOn(page: Page): Pick<ConsolePage, 'mouse' | 'keyboard' | 'walkTo'> {
  const walkTo = async (target: Locator): Promise<void> => {
    // A button may be in the document before its dialog is open and before it can be pressed.
    const canBeReached = () =>
      target.evaluate(
        (element) =>
          !element.matches(':disabled') && !element.closest('dialog:not([open]), [inert]'),
      );
    await until(`${target.toString()} to be within reach`, canBeReached, Boolean);
    const isThere = () => target.evaluate((element) => element === document.activeElement);
    for (let step = 0; step < maxSteps; step += 1) {
      if (await isThere()) return;
      await page.keyboard.press('Tab');
    }
    assert.fail(`the keyboard does not reach ${target.toString()}`);
  };
  const mouse: Hand = {
    name: 'mouse',
    press: (target) => target.click(),
    async write(target, text) {
      await target.click();
      await target.fill(text);
    },
  };
  const keyboard: Hand = {
    name: 'keyboard',
    async press(target, key = 'Enter') {
      await walkTo(target);
      await page.keyboard.press(key);
    },
    async write(target, text) {
      await walkTo(target);
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.insertText(text);
    },
  };
  return { mouse, keyboard, walkTo };
}

function pathsOn(
  page: Page,
  service: TestService,
): Pick<ConsolePage, 'button' | 'link' | 'heading' | 'open' | 'start'> {
  const heading = (name: string) => page.getByRole('heading', { name, exact: true, level: 1 });
  return {
    heading,
    button: (name) => page.getByRole('button', { name }),
    link: (name) => page.getByRole('link', { name, exact: true }),
    async open(hand, view) {
      const navigation = page.getByRole('navigation', { name: 'Main' });
      await hand.press(navigation.getByRole('link', { name: view, exact: true }));
      await heading(view).waitFor();
    },
    async start(view = '/overview') {
      // Goes through an empty page, so that no unsaved form asks whether to leave.
      await page.goto('about:blank');
      await page.goto(`${service.url}/console/#${view}`);
      await page.locator('h1').waitFor();
    },
  };
}
