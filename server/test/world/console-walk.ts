/** A walk through the console in a crowded world that changes nothing. */
import assert from 'node:assert/strict';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { CrowdedWorld } from '../crowded-world.ts';
import { scaled } from '../scale.ts';
import { watchPage, type PageWatch } from './page-watch.ts';

const pagesAtOnce = 3;
/** Maximum controls with the same name, such as those in table rows. */
const maxAlike = scaled(1, 2);
const maxPresses = 60;
/** Requests that are not GET but change nothing. */
const questions =
  /\/(analytics\/(funnels|paths|cohorts|custom)|experiments\/plan|alerts\/test|ranking\/preview|playback-token|console\/session)$/;

/** Addresses of every view, each with its peculiarity. */
export function addressesOf({ items, ...world }: CrowdedWorld): Address[] {
  const each = (path: string, ids: Record<string, string>) =>
    Object.entries(ids).map(([name, id]) => ({ path: `${path}/${id}`, name }));
  const streams = Object.entries(world.streams).map(([name, { id }]) => [name, id]);
  const keys = Object.fromEntries(Object.entries(world.keys).map(([name, { id }]) => [name, id]));
  const named = (...names: string[]) =>
    Object.fromEntries(names.map((name) => [name, items[name] ?? '']));
  const shown = named(
    ...['portrait', 'pending', 'processing', 'corruptMedia', 'audioOnly', 'protected', 'private'],
    ...['captioned', 'scheduled', 'expired', 'tenImages', 'noImages', 'mixedRow', 'emptyRow'],
    ...['script', 'image', 'hebrew', 'wide', 'longWord', 'looksEmpty', 'combining', 'emoji'],
  );
  const plain = [
    ...[
      '/overview',
      '/last-hour',
      '/saved-reports',
      '/content',
      '/content/jobs',
      '/content/import',
      '/content/calendar',
      '/live',
      '/feed',
    ],
    ...[
      '/experiments',
      '/experiments/new',
      '/metrics',
      '/alerts',
      '/webhooks',
      '/exports',
      '/settings',
    ],
    ...[
      '/keys',
      '/people',
      '/account',
      '/viewers',
      '/viewers?userId=somebody',
      '/purges',
      '/reports',
    ],
    ...['movers', 'audience', 'viewers', 'hours', 'retention', 'engagement'].map(
      (report) => `/reports?report=${report}`,
    ),
    ...['/reports?report=sources', '/reports?report=quality'],
    ...['funnel', 'paths', 'cohorts', 'series'].map((name) => `/journeys?question=${name}`),
    ...['/organization', '/audit', '/system'],
    ...['/content?search=script', '/content?archived=only', '/content?contentType=carousel'],
  ];
  return [
    ...plain.map((path) => ({ path, name: '' })),
    ...each('/content/jobs', world.jobs),
    ...each('/content', shown),
    ...each('/live', Object.fromEntries(streams)),
    ...each('/experiments', world.experiments),
    ...Object.values(world.experiments).map((id) => ({
      path: `/experiments/${id}/edit`,
      name: 'edited',
    })),
    ...each('/keys', keys),
    ...each('/webhooks', world.webhooks),
  ];
}

export type Address = { path: string; name: string };
export type Visit = (page: Page, watch: PageWatch, reopen: () => Promise<void>) => Promise<void>;
export type Walk = {
  browser: Browser;
  world: CrowdedWorld;
  width: number;
  /** Whether each visit reloads the console instead of continuing in the current page. */
  isLoadedAnew?: boolean;
};

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

/** Visits addresses, several at once, and returns the problems at each. */
export async function visitAll(
  { browser, world, width, isLoadedAnew = true }: Walk,
  addresses: readonly Address[],
  visit: Visit,
): Promise<string[]> {
  const context = await signIn(browser, world);
  const waiting = [...addresses];
  const problems: string[] = [];
  const walk = async () => {
    const page = await context.newPage();
    await page.setViewportSize({ width, height: 900 });
    page.setDefaultTimeout(60_000);
    // Leaving a form with unsaved changes asks first; the walk confirms.
    page.on('dialog', (dialog) => {
      void (dialog.type() === 'beforeunload' ? dialog.accept() : dialog.dismiss());
    });
    const watch = watchPage(page);
    if (!isLoadedAnew) await page.goto(`${world.service.url}/console/#/overview`);
    for (let address = waiting.shift(); address !== undefined; address = waiting.shift()) {
      const { path, name } = address;
      const reopen = async () => {
        await page.goto('about:blank');
        await page.goto(`${world.service.url}/console/#${path}`);
        await page.locator('main h1').first().waitFor();
        await watch.settled();
      };
      try {
        if (isLoadedAnew) await reopen();
        else await goOn(page, watch, path);
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

/** Navigates within the open page, like a link. */
async function goOn(page: Page, watch: PageWatch, path: string): Promise<void> {
  await page.evaluate(async (hash) => {
    if (location.hash === `#${hash}`) return;
    const isChanged = new Promise((resolve) => {
      addEventListener('hashchange', resolve, { once: true });
    });
    location.hash = hash;
    await isChanged;
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }, path);
  await page.locator('main h1').first().waitFor();
  await watch.settled();
}

const leaving = /^(sign out|sign in)$/i;

/**
 * Presses every control, each time on the page as it was opened, and closes what it opened. Returns
 * how many.
 */
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

/** Closes an open list, which covers what is below, and cancels a dialog. */
async function leave(page: Page): Promise<void> {
  const lists = page.getByRole('listbox').filter({ visible: true });
  if ((await lists.count()) > 0) await page.keyboard.press('Escape');
  const dialog = page.getByRole('dialog');
  if ((await dialog.count()) === 0) return;
  await page.keyboard.press('Escape');
  const cancel = dialog.getByRole('button', { name: /cancel|close/i });
  if ((await cancel.count()) > 0) await cancel.first().click();
  await dialog.waitFor({ state: 'detached' });
}
