/**
 * Tests the console by mouse and by keyboard alone, checks the accessibility of every page with
 * axe, and limits the size of the first page load.
 *
 * If `REELFEED_TEST_SCREENSHOTS` names a folder, screenshots of each page are saved there, wide and
 * narrow.
 */
import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { before, test } from 'node:test';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { sampleEvent } from '../../../test/event-samples.ts';
import { mediaSample } from '../../../test/media-samples.ts';
import { startReceiver } from '../../../test/receiver.ts';
import { scaled } from '../../../test/scale.ts';
import { createItem, createReadyItems } from '../../../test/seed.ts';
import { eventually } from '../../../test/service.ts';
import { axeProblems, loadAxe } from '../../../test/console/console-axe.ts';
import { startConsole, type ConsolePage, type Hand } from '../../../test/console/console.ts';

/** The first delivery of each webhook fails, to show what a failure looks like. */
const delivered = new Set<string>();
const receiver = await startReceiver(({ path: hook }) => {
  if (delivered.has(hook)) return 204;
  delivered.add(hook);
  return 500;
});
const started = await startConsole({
  REELFEED_EGRESS_ALLOW: receiver.allow,
  REELFEED_WEBHOOK_RETRY_SCHEDULE: '0s',
});
const { options } = started;
// Without a browser, every test in this file is skipped.
const {
  service,
  browser,
  page,
  errors,
  mouse,
  keyboard,
  button,
  link,
  heading,
  open,
  walkTo,
  start,
} = started.console as ConsolePage;
const scripts = new Map<string, number>();
let ready: string[] = [];

before(async () => {
  if (started.console === null) return;
  ready = await createReadyItems(service, 8, (index) => ({
    tags: [index % 2 === 0 ? 'even' : 'odd'],
    author: `author ${index % 3}`,
  }));
  page.on('response', (answer) => {
    if (!answer.url().endsWith('.js')) return;
    void answer.body().then((body) => scripts.set(answer.url(), gzipSync(body).length));
  });
});

test(
  'the link that the service printed opens the console signed in; its first page is small',
  options,
  async () => {
    const used = service.consoleLink?.() ?? '';
    await page.goto(used);
    await heading('Overview').waitFor();
    await button('Pause').waitFor();
    const bytes = [...scripts.values()].reduce((sum, size) => sum + size, 0);
    assert.ok(scripts.size > 0 && bytes <= 250_000, `${bytes} bytes of JavaScript, compressed`);
    const startedAt = performance.now();
    await page.reload();
    await heading('Overview').waitFor();
    console.log(
      `  first page: ${bytes} bytes of JavaScript, shown after ${Math.round(performance.now() - startedAt)} ms`,
    );
    const other = await browser.newContext();
    const stranger = await other.newPage();
    await stranger.goto(used);
    await stranger.getByText('This link has already been used or has expired').waitFor();
    await other.close();
  },
);

async function upload(hand: Hand): Promise<void> {
  await open(hand, 'Content');
  const chooser = page.waitForEvent('filechooser');
  await hand.press(button('Upload videos'));
  const title = `uploaded by ${hand.name}`;
  const buffer = await readFile(await mediaSample('small.mp4'));
  await (await chooser).setFiles({ name: `${title}.mp4`, mimeType: 'video/mp4', buffer });
  await hand.press(link(title));
  await heading(title).waitFor();
  const player = page.locator('video');
  await player.waitFor({ timeout: 120_000 });
  await eventually('the clip to be loaded', async () =>
    (await player.evaluate((video: HTMLVideoElement) => video.readyState)) >= 2 ? true : null,
  );
  if (hand.name === 'keyboard') {
    await walkTo(player);
    await page.keyboard.press('Space');
  } else {
    await player.click();
  }
  await eventually('the clip to play', async () =>
    (await player.evaluate((video: HTMLVideoElement) => video.currentTime)) > 0.2 ? true : null,
  );
}

async function tagTwo(hand: Hand): Promise<void> {
  const tag = `by-${hand.name}`;
  await page.goto(`${service.url}/console/#/content?search=Item`);
  const [first, last] = [
    page.getByRole('checkbox', { name: 'Select Item 7' }),
    page.getByRole('checkbox', { name: 'Select Item 5' }),
  ];
  await first.waitFor();
  const boxes = page.getByRole('checkbox', { name: /^Select Item/ });
  if (hand.name === 'mouse') {
    await boxes.nth(1).click();
    await boxes.nth(3).click({ modifiers: ['Shift'] });
  } else {
    await hand.press(boxes.nth(1), 'Space');
    await hand.press(boxes.nth(3), 'Shift+Space');
  }
  await last.waitFor();
  await page.getByText('3 selected', { exact: true }).waitFor();
  await hand.press(button('Tag…'));
  const dialog = page.getByRole('dialog');
  await hand.write(dialog.getByRole('combobox', { name: 'Add tags' }), tag);
  await page.keyboard.press('Enter');
  await hand.press(dialog.getByRole('button', { name: 'Tag 3 items' }));
  await dialog.waitFor({ state: 'detached' });
  const { body } = await service.call('GET', `/v1/content?tags=${tag}`);
  assert.equal(body.meta.total, 3);
}

async function startExperiment(hand: Hand): Promise<void> {
  const name = `By ${hand.name}`;
  await open(hand, 'Experiments');
  await hand.press(link('New experiment'));
  const treatment = page.getByRole('group', { name: 'Variant treatment' });
  const recency = treatment.getByRole('textbox', { name: 'Recency' });
  await recency.waitFor();
  assert.ok(await button('Create draft').isDisabled());
  // Name fields of variants come later in the form.
  await hand.write(page.getByRole('textbox', { name: 'Name', exact: true }).first(), name);
  await hand.write(recency, '1');
  await hand.press(button('Create draft'));
  await heading(name).waitFor();
  await hand.press(button('Start'));
  await button('Stop…').waitFor();
  const { body } = await service.call('GET', '/v1/experiments?status=running');
  assert.ok(body.data.some((one: { name: string }) => one.name === name));
  // A layer can hold only one ranking experiment for all viewers.
  await hand.press(button('Stop…'));
  await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Stop the experiment' }));
  await button('Roll out…').waitFor();
}

async function retryDelivery(hand: Hand): Promise<void> {
  await open(hand, 'Webhooks');
  const target = `${receiver.url}/${hand.name}`;
  await hand.press(button('New webhook'));
  await hand.write(page.getByLabel('URL'), target);
  await hand.press(button('Create webhook'));
  await page.getByText(/^whsec_/).waitFor();
  await page.keyboard.press('Escape');
  await hand.press(link(target));
  await heading(target).waitFor();
  const webhookIds = [/whk_\w+/.exec(page.url())?.[0]];
  const made = { event: 'content.ready', webhookIds };
  await service.call('POST', '/v1/webhook-events/trigger', { body: made });
  const failed = page.locator('summary', { hasText: /failed.*500/ });
  await failed.waitFor();
  await hand.press(failed);
  await hand.press(button('Retry'));
  await page.locator('summary', { hasText: /success.*attempts: 2/ }).waitFor();
}

async function changeWeights(hand: Hand): Promise<void> {
  await open(hand, 'Feed');
  await hand.press(page.getByRole('tab', { name: 'Preview' }), 'Enter');
  if (hand.name === 'mouse') await page.getByRole('tab', { name: 'Weights' }).click();
  else await page.keyboard.press('ArrowRight');
  const slider = page.getByRole('slider', { name: 'Recency' });
  const scores = page.getByRole('list', { name: 'With these weights' });
  await scores.waitFor();
  const old = await scores.innerText();
  const before = await slider.getAttribute('aria-valuenow');
  if (hand.name === 'mouse') {
    const track = await slider.locator('xpath=../..').boundingBox();
    assert.ok(track !== null);
    await page.mouse.click(track.x + track.width * 0.9, track.y + track.height / 2);
  } else {
    await walkTo(slider);
    for (let step = 0; step < 3; step += 1) await page.keyboard.press('ArrowLeft');
  }
  await eventually('the slider to move', async () =>
    (await slider.getAttribute('aria-valuenow')) === before ? null : true,
  );
  await eventually('the preview to change', async () =>
    (await scores.innerText()) === old ? null : true,
  );
  await hand.press(button('Save weights'));
  await eventually('the weights to be saved', async () => {
    const { body } = await service.call('GET', '/v1/ranking/config');
    return String(body.data.weights.recency) === (await slider.getAttribute('aria-valuenow'))
      ? true
      : null;
  });
}

const tasks = { upload, tagTwo, startExperiment, retryDelivery, changeWeights };
/** Tasks with specific keyboard handling. The others run only in the full run. */
const keyTasks = scaled<Partial<typeof tasks>>({ upload, tagTwo, changeWeights }, tasks);
for (const hand of [mouse, keyboard]) {
  for (const [name, task] of Object.entries(hand.name === 'keyboard' ? keyTasks : tasks)) {
    test(`by ${hand.name} alone: ${name}`, options, async () => {
      await start();
      await task(hand);
    });
  }
}

test('archiving an item can be undone, and a lost connection is reported', options, async () => {
  await start(`/content/${ready[0]}`);
  await button('Archive').click();
  await page.getByText(/^Archived /).waitFor();
  // The item's page remains available.
  await page.reload();
  await button('Restore').click();
  await button('Archive').waitFor();
  await page.context().setOffline(true);
  await page.getByText('This computer is offline').waitFor();
  await mouse.press(link('Content'));
  // A view that the browser has not cached can't be loaded.
  await page
    .getByText(/No connection to the service|This page could not be loaded/)
    .first()
    .waitFor();
  await page.context().setOffline(false);
  await button('Try again').first().click();
  await page.getByText(/items/).first().waitFor();
  errors.splice(0);
});

const views = async (): Promise<string[]> => {
  const first = async (list: string) =>
    (await service.call('GET', `${list}?limit=1`)).body.data[0] as { id: string; jobId: string };
  const carousel = await service.call('POST', '/v1/content', {
    body: { contentType: 'video_carousel', title: 'A carousel' },
  });
  await service.call('POST', `/v1/content/${carousel.body.data.id}/videos`, {
    body: { contentIds: ready.slice(0, 2) },
  });
  const failed = await createItem(service, { title: 'Nothing uploaded' });
  await service.call('POST', '/v1/content/bulk/jobs', {
    body: { operation: 'tag', filter: { tags: ['odd'] }, update: { addTags: ['x'] } },
  });
  await service.call('POST', '/v1/ranking/rules', {
    body: { type: 'boost', match: { tags: ['odd'] }, factor: 2 },
  });
  await service.call('PUT', '/v1/flags/new-player', { body: { value: true } });
  await service.call('POST', '/v1/exports', {
    body: { dataset: 'content', startDate: '2026-01-01', endDate: '2026-01-02', format: 'csv' },
  });
  const draft = await service.call('POST', '/v1/experiments', {
    body: {
      name: 'A draft',
      type: 'config',
      traffic: 1,
      metrics: ['watchTime'],
      variants: [
        { id: 'control', name: 'control', traffic: 0.5 },
        { id: 'more', name: 'more', traffic: 0.5, config: { 'player.preload': 3 } },
      ],
    },
  });
  const live = await service.call('POST', '/v1/live-streams', { body: { title: 'A broadcast' } });
  await service.call('POST', '/v1/analytics/alerts', {
    body: { name: 'Errors', report: 'quality', metric: 'errorRate', condition: { type: 'band' } },
  });
  // A view that appears twice in a row would not change the address.
  const { id: oldWebhookId } = await first('/v1/webhooks');
  const forwarded = await service.call('POST', '/v1/webhooks', {
    body: { url: `${receiver.url}/forwarded`, events: ['events.batch'], customer: 'somebody' },
  });
  const webhookId = forwarded.body.data.id as string;
  await service.call('POST', '/v1/event-forwardings', { body: { webhookId } });
  const contentId = ready[0] ?? '';
  await service.call('POST', '/v1/events/batch', {
    body: { events: [sampleEvent('impression', contentId), sampleEvent('playStart', contentId)] },
  });
  return [
    '/overview',
    '/content?view=grid',
    '/content',
    `/content/${contentId}`,
    `/content/${failed.id}`,
    `/content/${carousel.body.data.id}`,
    '/content/import',
    '/content/calendar',
    '/content/jobs',
    `/content/jobs/${(await first('/v1/content/bulk/jobs')).jobId}`,
    ...['preview', 'weights', 'rules', 'versions'].map((tab) => `/feed?tab=${tab}`),
    '/experiments',
    '/experiments/new',
    `/experiments/${draft.body.data.id}/edit`,
    '/metrics',
    `/experiments/${(await first('/v1/experiments')).id}`,
    '/webhooks',
    `/webhooks/${oldWebhookId}`,
    `/webhooks/${webhookId}`,
    '/alerts',
    '/live',
    `/live/${live.body.data.id}`,
    '/exports',
    '/settings',
    '/keys',
    `/keys/${(await first('/v1/keys')).id}`,
    '/viewers',
    '/viewers?userId=somebody',
    '/purges',
    ...[
      'items',
      'breakdown&by=device&and=country',
      'movers',
      'audience',
      'viewers',
      'hours',
      'retention',
    ].map((report) => `/reports?report=${report}`),
    ...['engagement', 'sources', 'quality'].map((report) => `/reports?report=${report}`),
    ...['funnel&breakdown=device', 'paths', 'cohorts&viewers=all', 'series'].map(
      (question) => `/journeys?question=${question}`,
    ),
    '/organization',
    '/audit',
    '/system',
  ];
};

test(
  'axe finds nothing on any page or in its dialogs, and none is wider than a phone',
  'skip' in options ? options : { timeout: scaled(420_000, 2_400_000) },
  async () => {
    const folder = process.env['REELFEED_TEST_SCREENSHOTS'];
    if (folder !== undefined) await mkdir(folder, { recursive: true });
    await page.goto(`${service.url}/console/`);
    await loadAxe(page);
    const found: string[] = [];
    for (const [index, view] of (await views()).entries()) {
      await page.setViewportSize({ width: 1440, height: 1_000 });
      // The previous view is gone, and whatever the new one loads is marked as busy.
      await page.evaluate(async (hash) => {
        const isChanged = new Promise((resolve) => {
          addEventListener('hashchange', resolve, { once: true });
        });
        location.hash = hash;
        await isChanged;
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }, view);
      await page.locator('h1').waitFor();
      await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
      found.push(...(await axeProblems(page, index)).map((problem) => `${view} ${problem}`));
      await page.setViewportSize({ width: 1440, height: 1_000 });
      const picture = async (scheme: 'light' | 'dark') => {
        if (folder === undefined) return;
        await page.emulateMedia({ colorScheme: scheme });
        const name = view.replaceAll(/[^\w-]+/g, '-').slice(1, 40);
        const { width = 0 } = page.viewportSize() ?? {};
        await page.screenshot({
          path: path.join(folder, `${name}-${width}-${scheme}.png`),
          fullPage: true,
        });
      };
      await picture('dark');
      await picture('light');
      await page.setViewportSize({ width: 390, height: 844 });
      const fits = () => document.documentElement.scrollWidth <= innerWidth;
      const tooWide = () =>
        page.evaluate(() =>
          [...document.querySelectorAll('main *')]
            .filter((element) => element.getBoundingClientRect().right > innerWidth)
            .slice(0, 5)
            .map(({ outerHTML }) => outerHTML.slice(0, 120))
            .join('; '),
        );
      await page
        .waitForFunction(fits, undefined, { timeout: 20_000 })
        .catch(async () => found.push(`${view} is too wide for a phone: ${await tooWide()}`));
      await picture('dark');
      await picture('light');
    }
    assert.deepEqual(found, []);
    assert.deepEqual(errors, []);
  },
);
