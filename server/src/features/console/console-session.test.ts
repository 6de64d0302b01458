/**
 * An open console survives its session ending, another person signing in, the service being
 * unavailable or upgraded, and errors of its own pages.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { createItem, createOrganization } from '../../../test/seed.ts';
import { eventually, freePort, startService } from '../../../test/service.ts';
import { startConsole, takePictures, type ConsolePage } from '../../../test/console/console.ts';

const port = String(await freePort());
const started = await startConsole({ PORT: port });
const { options } = started;
// Without a browser, every test in this file is skipped.
const { service, page, heading, button, link, mouse, open, start } = started.console as ConsolePage;
const dist = fileURLToPath(new URL('../../../../console/dist/', import.meta.url));

const dialog = (of: Page) => of.getByRole('dialog', { name: 'You were signed out' });
const alert = (title: string) => page.getByRole('alert').filter({ hasText: title });

async function signIn(of: Page, key: string): Promise<void> {
  await of.getByLabel('Secret key').fill(key);
  await of.getByRole('button', { name: 'Sign in' }).click();
}

/** Counts page reloads until the next call. */
let loads = 0;
page?.on('request', (request) => {
  if (request.isNavigationRequest() && request.frame() === page.mainFrame()) loads += 1;
});
function loadsSince(): number {
  const count = loads;
  loads = 0;
  return count;
}

afterEach(async () => {
  if (started.console === null) return;
  await page.unrouteAll({ behavior: 'wait' });
  // A tab with an outdated build would reload during the next test.
  await page.goto('about:blank');
});

before(async () => {
  if (started.console === null) return;
  await page.goto(service.consoleLink?.() ?? '');
  await heading('Overview').waitFor();
});

test(
  'a session that ends while an item is edited asks for sign-in and keeps what was typed',
  options,
  async () => {
    const { id } = await createItem(service, { title: 'Before' });
    await start(`/content/${id}`);
    const title = page.getByRole('textbox', { name: 'Title' }).first();
    await title.fill('Typed before the end');
    loadsSince();
    await page.context().clearCookies();
    await button('Save').click();
    await dialog(page).waitFor();
    await takePictures(page, 'signed-out');
    await page.keyboard.press('Escape');
    await signIn(page, 'rf_sk_wrong');
    await dialog(page).getByText('A valid key is required').waitFor();
    await signIn(page, service.secretKey);
    await dialog(page).waitFor({ state: 'detached' });
    assert.equal(await title.inputValue(), 'Typed before the end');
    await alert('Your last action was not carried out').first().waitFor();
    await takePictures(page, 'signed-in-again');
    await button('Save').click();
    await page.getByText('Saved.').waitFor();
    const { body } = await service.call('GET', `/v1/content/${id}`);
    assert.equal(body.data.title, 'Typed before the end');
    assert.equal(loadsSince(), 0);
  },
);

test(
  'a second tab is asked too after a sign-out, and shows nothing of the organization before',
  options,
  async () => {
    await createItem(service, { title: 'A secret of the first' });
    const other = await createOrganization(service, 'The second');
    await start('/content');
    await page.getByText('A secret of the first').waitFor();
    const tab = await page.context().newPage();
    await tab.goto(`${service.url}/console/#/overview`);
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await tab.getByRole('heading', { name: 'Sign in to Reelfeed' }).waitFor();
    await dialog(page).waitFor();
    await page.getByText('A secret of the first').waitFor();
    await signIn(page, other.secretKey);
    await page.getByText('The second', { exact: true }).waitFor();
    await heading('Content').waitFor();
    assert.equal(await page.getByText('A secret of the first').count(), 0);
    await tab.getByText('The second', { exact: true }).waitFor();
    await signOutAndIn(tab);
    // The page was not touched: it learns from the other tab.
    await page.getByText('A secret of the first').waitFor();
    await tab.close();
  },
);

async function signOutAndIn(tab: Page): Promise<void> {
  await tab.getByRole('button', { name: 'Sign out' }).click();
  await tab.getByRole('heading', { name: 'Sign in to Reelfeed' }).waitFor();
  await signIn(tab, service.secretKey);
  await tab.getByRole('heading', { name: 'Overview' }).waitFor();
}

test('a page that fails keeps the frame, and can be tried again', options, async () => {
  await start('/overview');
  await page.route('**/v1/exports?*', (route) =>
    route.fulfill({ json: { data: [null], meta: { requestId: 'req_a', nextCursor: null } } }),
  );
  await mouse.press(link('Exports'));
  await alert('An error occurred on this page').waitFor();
  await takePictures(page, 'failed');
  await open(mouse, 'Keys');
  await mouse.press(link('Exports'));
  await alert('An error occurred on this page').waitFor();
  await page.unroute('**/v1/exports?*');
  await button('Try again').click();
  await heading('Exports').waitFor();
});

test(
  'a part of a page that cannot be loaded leaves what was typed beside it',
  options,
  async () => {
    const { id } = await createItem(service, { title: 'With a player' });
    await page.route('**/assets/item-player-*.js', (route) => route.abort());
    await start(`/content/${id}`);
    await alert('This part could not be loaded').waitFor();
    const title = page.getByRole('textbox', { name: 'Title' }).first();
    await title.fill('Typed beside it');
    await page.unroute('**/assets/item-player-*.js');
    loadsSince();
    const answer = async (what: 'accept' | 'dismiss') => {
      const asked = page.waitForEvent('dialog').then((dialog) => dialog[what]());
      await Promise.all([
        asked,
        alert('This part could not be loaded').getByRole('button').click(),
      ]);
    };
    await answer('dismiss');
    await alert('This part could not be loaded').waitFor();
    assert.equal(await title.inputValue(), 'Typed beside it');
    assert.equal(loadsSince(), 0);
    await button('Save').click();
    await page.getByText('Saved.').waitFor();
    await answer('accept');
    await page.getByText('No video has been uploaded yet').waitFor();
    assert.equal(await title.inputValue(), 'Typed beside it');
  },
);

/** The same build with different hashes in its names, as if every source had changed. */
function anotherBuild(): { html: string; files: Map<string, Buffer> } {
  const names = globSync('assets/*', { cwd: dist }).map((file) => path.basename(file));
  const renamed = new Map(
    names.map((name) => [name, name.replace(/.(?=\.\w+$)/, (last) => (last === 'x' ? 'y' : 'x'))]),
  );
  const translate = (text: string) =>
    text.replaceAll(/[\w-]+\.(?:js|css)/g, (name) => renamed.get(name) ?? name);
  return {
    html: translate(readFileSync(path.join(dist, 'index.html'), 'utf8')),
    files: new Map(
      [...renamed].map(([before, after]) => {
        const text = translate(readFileSync(path.join(dist, 'assets', before), 'utf8'));
        return [after, Buffer.from(text)];
      }),
    ),
  };
}

/** Serves another build from now on; files of the first build return 404, as in the service. */
async function upgrade(isFor: (name: string) => boolean = () => true): Promise<void> {
  const { html, files } = anotherBuild();
  await page.route(/\/console\/(?:assets\/.*)?$/, async (route) => {
    const name = path.basename(new URL(route.request().url()).pathname);
    const file = files.get(name);
    if (name === 'console') return route.fulfill({ contentType: 'text/html', body: html });
    if (file === undefined || !isFor(name)) {
      return route.fulfill({
        response: await route.fetch({ url: `${route.request().url()}.old` }),
      });
    }
    const contentType = name.endsWith('.css') ? 'text/css' : 'text/javascript';
    return route.fulfill({ contentType, body: file });
  });
}

test(
  'a tab that was open during an upgrade loads the new build once, at the page that was asked for',
  options,
  async () => {
    await start('/overview');
    loadsSince();
    await upgrade();
    await mouse.press(link('Keys'));
    await heading('Keys').waitFor();
    assert.equal(loadsSince(), 1);
    await open(mouse, 'Exports');
    assert.equal(loadsSince(), 0);
  },
);

test('a page that no reload restores shows an error, without a reload loop', options, async () => {
  await start('/overview');
  await page.evaluate(() => sessionStorage.clear());
  loadsSince();
  await upgrade((name) => !name.startsWith('audit-'));
  await mouse.press(link('Audit'));
  await alert('This page could not be loaded').waitFor();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  assert.equal(loadsSince(), 1);
});

test(
  'while the service is away a page says so in its frame, and loads when it is back',
  options,
  async () => {
    await start('/overview');
    await page.evaluate(() => sessionStorage.clear());
    await service[Symbol.asyncDispose]();
    await mouse.press(link('Live'));
    await alert('This page could not be loaded').waitFor();
    await takePictures(page, 'not-loaded');
    await button('Try again').first().click();
    await alert('This page could not be loaded').waitFor();
    await mouse.press(link('Settings and flags'));
    await alert('This page could not be loaded').waitFor();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    const again = await startService({ PORT: port }, { beside: service });
    assert.equal(again.url, service.url);
    await eventually('the page to load', async () => {
      if (await heading('Settings and flags').isVisible()) return true;
      const retry = alert('This page could not be loaded').getByRole('button');
      if (await retry.isVisible()) await retry.click();
      return null;
    });
    await open(mouse, 'Live');
  },
);

test('a name of an earlier build is 404, and nobody keeps that', async () => {
  const [name = ''] = globSync('assets/keys-*', { cwd: dist });
  const old = name.replace(/.(?=\.js$)/, '_');
  const { status, headers } = await fetch(`http://127.0.0.1:${port}/console/${old}`);
  assert.deepEqual([status, headers.get('cache-control')], [404, 'no-store']);
});
