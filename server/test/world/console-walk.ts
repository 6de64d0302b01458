/** A walk through the console over a crowded world, which changes nothing. */
import assert from 'node:assert/strict';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { CrowdedWorld } from '../crowded-world.ts';
import { watchPage, type PageWatch } from './page-watch.ts';

const pagesAtOnce = 3;
/** Controls of one name, such as those of the rows of a table. */
const maxAlike = 2;
const maxPresses = 60;
/** Asks and changes nothing, although it is no GET. */
const questions = /\/(experiments\/plan|ranking\/preview|playback-token|console\/session)$/;

/** Addresses of every view, each with what is special there. */
export function addressesOf({ items, ...world }: CrowdedWorld): Address[] {
  const each = (path: string, ids: Record<string, string>) =>
    Object.entries(ids).map(([name, id]) => ({ path: `${path}/${id}`, name }));
  const streams = Object.entries(world.streams).map(([name, { id }]) => [name, id]);
  const named = (...names: string[]) =>
    Object.fromEntries(names.map((name) => [name, items[name] ?? '']));
  const shown = named(
    ...['portrait', 'pending', 'processing', 'corruptMedia', 'audioOnly', 'protected', 'private'],
    ...['captioned', 'scheduled', 'expired', 'tenImages', 'noImages', 'mixedRow', 'emptyRow'],
    ...['script', 'image', 'hebrew', 'wide', 'longWord', 'looksEmpty', 'combining', 'emoji'],
  );
  const plain = [
    ...['/overview', '/content', '/content/jobs', '/content/import', '/live', '/feed'],
    ...['/experiments', '/experiments/new', '/metrics', '/webhooks', '/exports', '/settings'],
    ...['/keys'],
    ...['/organization', '/audit', '/system'],
    ...['/content?search=script', '/content?archived=only', '/content?contentType=carousel'],
  ];
  return [
    ...plain.map((path) => ({ path, name: '' })),
    ...each('/content/jobs', world.jobs),
    ...each('/content', shown),
    ...each('/live', Object.fromEntries(streams)),
    ...each('/experiments', world.experiments),
    ...each('/webhooks', world.webhooks),
  ];
}

export type Address = { path: string; name: string };
export type Visit = (page: Page, watch: PageWatch, reopen: () => Promise<void>) => Promise<void>;
export type Walk = { browser: Browser; world: CrowdedWorld; width: number };

async function signIn(started: Browser, { service }: CrowdedWorld): Promise<BrowserContext> {
  const context = await started.newContext({ reducedMotion: 'reduce' });
  await context.route('**/v1/**', async (route) => {
    const request = route.request();
    const { pathname } = new URL(request.url());
    if (request.method() === 'GET' || questions.test(pathname)) return route.continue();
    const error = { code: 'CONFLICT', message: 'The walk changes nothing.' };
    const meta = { requestId: 'req_0' };
    return route.fulfill({ status: 409, json: { error, meta } });
  });
  const page = await context.newPage();
  await page.goto(service.consoleLink?.() ?? '');
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  await page.close();
  return context;
}

/** Visits addresses, several at once, and returns what went wrong at each. */
export async function visitAll(
  { browser, world, width }: Walk,
  addresses: readonly Address[],
  visit: Visit,
): Promise<string[]> {
  const context = await signIn(browser, world);
  const waiting = [...addresses];
  const problems: string[] = [];
  const walk = async () => {
    const page = await context.newPage();
    await page.setViewportSize({ width, height: 900 });
    page.setDefaultTimeout(20_000);
    page.on('dialog', (dialog) => void dialog.dismiss());
    const watch = watchPage(page);
    for (let address = waiting.shift(); address !== undefined; address = waiting.shift()) {
      const { path, name } = address;
      const reopen = async () => {
        await page.goto('about:blank');
        await page.goto(`${world.service.url}/console/#${path}`);
        await page.locator('main h1').first().waitFor();
        await watch.settled();
      };
      try {
        await reopen();
        await visit(page, watch, reopen);
      } catch (error) {
        problems.push(`${width} px, ${path} ${name}: ${(error as Error).message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: pagesAtOnce }, walk));
  await context.close();
  return problems;
}

const leaving = /^(sign out|sign in)$/i;

/** Presses every control of the page, each on the page as it was opened, and leaves what it opens. @returns how many */
export async function pressAll(
  page: Page,
  watch: PageWatch,
  reopen: () => Promise<void>,
): Promise<number> {
  const address = page.url();
  let pressed = 0;
  const controls = page.locator(
    'main :is(button, summary, [role="tab"], [role="switch"], [aria-haspopup], input[type="checkbox"])',
  );
  const names = await controls.evaluateAll((all) =>
    all.map((one) => one.getAttribute('aria-label') ?? (one.textContent || one.id || one.tagName)),
  );
  const alike = new Map<string, number>();
  const problems: string[] = [];
  for (const [index, name] of names.slice(0, maxPresses).entries()) {
    const kind = name.replaceAll(/\d+/g, '0').slice(0, 12);
    alike.set(kind, (alike.get(kind) ?? 0) + 1);
    if ((alike.get(kind) ?? 0) > maxAlike || leaving.test(name.trim())) continue;
    const control = controls.nth(index);
    if (!(await control.isVisible()) || !(await control.isEnabled())) continue;
    try {
      await control.click({ timeout: 5_000 });
      pressed += 1;
      await watch.settled();
      await watch.assertWell(`after "${name}"`, { answers: /^409 / });
      await leave(page);
    } catch (error) {
      problems.push((error as Error).message.split('\n').slice(0, 8).join(' '));
    }
    const isChanged = (await controls.count()) !== names.length;
    if (isChanged || page.url() !== address) await reopen();
  }
  assert.deepEqual(problems, []);
  return pressed;
}

/** Closes a dialog without what it asks for. */
async function leave(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog');
  if ((await dialog.count()) === 0) return;
  await page.keyboard.press('Escape');
  const cancel = dialog.getByRole('button', { name: /cancel|close/i });
  if ((await cancel.count()) > 0) await cancel.first().click();
  await dialog.waitFor({ state: 'detached' });
}
