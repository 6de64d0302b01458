/**
 * More console tasks by mouse and by keyboard alone: carousel order, captions, import, roll-out,
 * webhook recovery and rotation. Also checks that lists reach their last row and that a library of
 * 10,000 items scrolls without long tasks.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { before, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { insertReadyItems } from '../../../../bench/lib/catalogue.ts';
import { atEnd, silentLog } from '../../../test/database.ts';
import { imageBytes } from '../../../test/carousels.ts';
import { readyItem, sampleBytes } from '../../../test/media.ts';
import { startReceiver } from '../../../test/receiver.ts';
import { createReadyItems } from '../../../test/seed.ts';
import { scaled } from '../../../test/scale.ts';
import { eventually } from '../../../test/service.ts';
import { until } from '../../../test/waiting.ts';
import { openDatabase } from '../../platform/database/database.ts';
import { startConsole, type ConsolePage, type Hand } from '../../../test/console/console.ts';

let isBroken = true;
const receiver = await startReceiver(() => (_request, response) => {
  response.writeHead(isBroken ? 500 : 204, { 'x-said': 'by the receiver' }).end();
});
const clip = await sampleBytes('small.mp4');
const source = createServer((_request, response) => response.end(clip)).listen(0, '127.0.0.1');
await once(source, 'listening');
atEnd(async () => {
  source.closeAllConnections();
  source.close();
});
const sourceHost = `127.0.0.1:${(source.address() as AddressInfo).port}`;
const started = await startConsole({
  REELFEED_EGRESS_ALLOW: `${receiver.allow},${sourceHost}`,
  REELFEED_WEBHOOK_RETRY_SCHEDULE: '0s',
});
const { options } = started;
// Without a browser, every test in this file is skipped.
const { service, browser, page, errors, mouse, keyboard, button, link, heading, open, start } =
  started.console as ConsolePage;
/** Loading up to the last row takes a minute on a busy machine. */
const scrolledRows = scaled(1_000, 10_000);
const call = async (method: string, path: string, body?: object) =>
  (await service.call(method, path, { body })).body.data;

before(async () => {
  if (started.console === null) return;
  await page.goto(service.consoleLink?.() ?? '');
  await heading('Overview').waitFor();
});

async function orderCarousel(hand: Hand): Promise<void> {
  const titles = ['One', 'Two', 'Three'].map((title) => `${title} by ${hand.name}`);
  const contentIds = await createReadyItems(service, 3, (index) => ({ title: titles[index] }));
  const { id } = await call('POST', '/v1/content', { contentType: 'video_carousel', title: 'Row' });
  const entries = await call('POST', `/v1/content/${id}/videos`, { contentIds });
  await start(`/content/${id}`);
  const rows = page.locator('ol > li');
  await rows.nth(2).waitFor();
  // Each row shows its video's title, even if the search for one to add finds none of them.
  await page.getByRole('combobox', { name: 'Add a video' }).fill('finds nothing');
  await eventually('the titles', async () =>
    (await rows.allInnerTexts()).every((text) => text.includes(`by ${hand.name}`)) ? true : null,
  );
  await page.keyboard.press('Escape');
  // The ids come in unspecified order.
  const last: string = (await call('GET', `/v1/content/${entries[2].contentId}`)).title;
  if (hand.name === 'mouse') await rows.nth(2).dragTo(rows.nth(0));
  else {
    await hand.press(button(`Up: ${last}`));
    await page.locator('ol > li:nth-child(2)', { hasText: last }).waitFor();
    await hand.press(button(`Up: ${last}`));
  }
  await page.locator('ol > li:nth-child(1)', { hasText: last }).waitFor();
  const stored = await call('GET', `/v1/content/${id}/videos`);
  assert.deepEqual(
    stored.map((entry: { id: string }) => entry.id),
    [entries[2].id, entries[0].id, entries[1].id],
  );
}

async function chooseThumbnail(hand: Hand): Promise<void> {
  const { id, thumbnailUrl } = await readyItem(service, 'black-start.mp4');
  const read = () => call('GET', `/v1/content/${id}`);
  const changed = (from: string) =>
    eventually('another thumbnail', async () => {
      const item = await read();
      return item.thumbnailUrl === from ? null : item;
    });
  await start(`/content/${id}`);
  await page.locator('video').evaluate((video: HTMLVideoElement) => {
    video.currentTime = 0.1;
  });
  await hand.press(button('Use the current frame'));
  const dark = await changed(thumbnailUrl);
  assert.equal(dark.thumbnailTime, 0.1);
  await page.getByText('The picture at 0.1 s.').waitFor();
  const buffer = await imageBytes({ width: 320, height: 180 });
  const file = { name: 'cover.jpg', mimeType: 'image/jpeg', buffer };
  await page.getByLabel('Image for the thumbnail').setInputFiles(file);
  const uploaded = await changed(dark.thumbnailUrl);
  assert.equal(uploaded.thumbnailTime, null);
  await hand.press(button('Use the first frame'));
  assert.equal((await changed(uploaded.thumbnailUrl)).thumbnailUrl, thumbnailUrl);
}

async function importVideo(hand: Hand): Promise<void> {
  await open(hand, 'Content');
  await hand.press(link('Import'));
  await heading('Import').waitFor();
  const title = `Imported by ${hand.name}`;
  await hand.write(
    page.getByRole('textbox', { name: 'Videos to import' }),
    `http://${sourceHost}/${hand.name}.mp4 ${title}`,
  );
  await hand.press(button('Import 1 videos'));
  await hand.press(link(title));
  await heading(title).waitFor();
  await page.locator('video').waitFor({ timeout: 120_000 });
}

async function addCaptions(hand: Hand): Promise<void> {
  const { body } = await service.call('GET', '/v1/content?search=Imported&uploadStatus=ready');
  await start(`/content/${body.data[0].id}`);
  const captions = page.getByRole('region', { name: 'Captions' });
  const chooser = page.waitForEvent('filechooser');
  await hand.press(captions.getByRole('button', { name: /^File/ }));
  const buffer = Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n');
  await (await chooser).setFiles({ name: 'en.vtt', mimeType: 'text/vtt', buffer });
  await hand.write(captions.getByRole('textbox', { name: 'Language' }), 'en');
  await hand.press(captions.getByRole('button', { name: 'Add captions' }));
  await hand.press(captions.getByRole('button', { name: 'Remove English' }));
  const question = page.getByRole('dialog');
  await hand.press(question.getByRole('button', { name: 'Remove the captions' }));
  await captions.getByText('No captions yet').waitFor();
}

async function rollOut(hand: Hand): Promise<void> {
  const { id } = await call('POST', '/v1/experiments', {
    name: `Rolled out by ${hand.name}`,
    type: 'config',
    traffic: 1,
    metrics: ['watchTime'],
    variants: [
      { id: 'control', name: 'control', traffic: 0.5 },
      { id: 'more', name: 'more', traffic: 0.5, config: { [`preload.${hand.name}`]: 3 } },
    ],
  });
  await call('POST', `/v1/experiments/${id}/start`);
  await call('POST', `/v1/experiments/${id}/stop`, {});
  await start(`/experiments/${id}`);
  await hand.press(button('Roll out…'));
  const dialog = page.getByRole('dialog');
  await hand.press(dialog.getByRole('combobox', { name: 'Variant' }));
  const choice = page.getByRole('option', { name: 'more' });
  await choice.waitFor();
  if (hand.name === 'mouse') await choice.click();
  else await pickByKeys(choice);
  await hand.press(dialog.getByRole('button', { name: 'Roll out', exact: true }));
  await page.getByText('winner: more').waitFor();
  const setting = await call('GET', `/v1/settings/preload.${hand.name}`);
  assert.equal(setting.value, 3);
}

/** Moves down the open list to an option and selects it. */
async function pickByKeys(choice: Locator): Promise<void> {
  await until(
    'the choice to be under the cursor',
    async () => {
      const isThere = (await choice.getAttribute('data-combobox-selected')) !== null;
      if (!isThere) await page.keyboard.press('ArrowDown');
      return isThere;
    },
    (isThere) => isThere,
  );
  await page.keyboard.press('Enter');
}

/** Leaves the webhook's page first, which would keep polling for it. */
async function removeWebhook(id: string): Promise<void> {
  await page.goto('about:blank');
  await call('DELETE', `/v1/webhooks/${id}`);
}

async function recoverWebhook(hand: Hand): Promise<void> {
  const url = `${receiver.url}/recover-${hand.name}`;
  isBroken = true;
  const { id } = await call('POST', '/v1/webhooks', { url, events: ['export.ready'] });
  const startDate = new Date().toISOString().slice(0, 10);
  const days = { startDate, endDate: startDate };
  await call('POST', '/v1/exports', { dataset: 'content', format: 'csv', ...days });
  await start(`/webhooks/${id}`);
  await page.locator('summary', { hasText: /failed.*500/ }).waitFor();
  isBroken = false;
  await hand.press(button('Resend failed deliveries'));
  await page.getByText('1 deliveries are sent again.').waitFor();
  const delivery = page.locator('summary', { hasText: /success.*attempts: 2/ });
  await delivery.waitFor();
  await hand.press(delivery);
  // Both attempts show what was sent.
  const sent = page.locator('summary', { hasText: 'Request headers' });
  await until(
    'both attempts',
    () => sent.count(),
    (count) => count === 2,
  );
  await hand.press(sent.last());
  await page
    .getByText(/^x-service-attempt: 2$/m)
    .first()
    .waitFor();
  await hand.press(page.locator('summary', { hasText: 'Response headers' }).first());
  await page
    .getByText(/^x-said: by the receiver$/m)
    .first()
    .waitFor();
  await removeWebhook(id);
}

async function rotateSecret(hand: Hand): Promise<void> {
  const url = `${receiver.url}/rotate-${hand.name}`;
  const { id, secret } = await call('POST', '/v1/webhooks', { url, events: ['content.ready'] });
  await start(`/webhooks/${id}`);
  await hand.press(button('Replace the secret…'));
  await hand.press(
    page.getByRole('dialog').getByRole('button', { name: 'Replace the secret', exact: true }),
  );
  const shown = page.getByText(/^whsec_/);
  await shown.waitFor();
  assert.notEqual(await shown.innerText(), secret);
  await open(hand, 'Webhooks');
  await hand.press(link(url));
  await page.getByText(/The old secret is valid for another 00:59:\d\d/).waitFor();
  assert.equal(await shown.count(), 0);
  await removeWebhook(id);
}

async function chooseOperator(hand: Hand, name: string): Promise<void> {
  await hand.press(page.getByRole('combobox', { name: 'Operator' }));
  const choice = page.getByRole('option', { name, exact: true });
  await choice.waitFor();
  if (hand.name === 'mouse') await choice.click();
  else await pickByKeys(choice);
}

async function filterWebhook(hand: Hand): Promise<void> {
  const url = `${receiver.url}/filter-${hand.name}`;
  await open(hand, 'Webhooks');
  await hand.press(button('New webhook'));
  await hand.write(page.getByLabel('URL'), url);
  await hand.press(page.locator('summary', { hasText: 'Filter, schedule' }));
  await hand.press(button('Add condition'));
  await hand.write(page.getByPlaceholder('Field'), 'title');
  await page.keyboard.press('Tab');
  await chooseOperator(hand, 'begins with');
  await hand.write(page.getByPlaceholder('Value'), 'News');
  await hand.press(button('As JSON'));
  const filter = page.getByRole('textbox', { name: 'Filter as JSON' });
  assert.deepEqual(JSON.parse(await filter.inputValue()), { title: { prefix: 'News' } });
  await hand.write(filter, '{ "title": ');
  await hand.press(button('Create webhook'));
  await page.getByText('The conditions are not valid JSON.').waitFor();
  assert.equal(await button('As fields').isDisabled(), true);
  await hand.write(
    filter,
    '{ "title": { "prefix": "News" }, "duration": { "gte": 60, "lt": 90 } }',
  );
  await hand.press(button('As fields'));
  await until(
    'a row for each operator',
    () => page.getByPlaceholder('Field').count(),
    (n) => n === 3,
  );
  await hand.write(page.getByLabel('Attempts after seconds'), '0, 60');
  await hand.write(page.getByLabel('Customer'), 'acme');
  await hand.press(button('Create webhook'));
  await page.getByText(/^whsec_/).waitFor();
  await page.keyboard.press('Escape');
  await hand.press(link(url));
  await hand.press(page.locator('summary', { hasText: 'Settings' }));
  const stored = page.getByPlaceholder('Value');
  assert.deepEqual(
    (
      await stored.evaluateAll((found) => found.map((input) => (input as HTMLInputElement).value))
    ).toSorted(),
    ['60', '90', 'News'],
  );
  for (const path of ['title', 'duration', 'duration']) {
    await hand.press(button(`Remove the condition on ${path}`).first());
  }
  await hand.press(button('Save the settings'));
  await page.getByText('Saved.').waitFor();
  await hand.press(button('Make a portal link for acme'));
  await page.getByText(/\/portal\/webhooks#whp_/).waitFor();
  await hand.press(button(/^Revoke the link of/));
  await page.getByText(/^Portal link of/).waitFor({ state: 'detached' });
  const id = /whk_\w+/.exec(page.url())?.[0] ?? '';
  const { filter: none, retrySchedule, customer } = await call('GET', `/v1/webhooks/${id}`);
  assert.deepEqual([none, retrySchedule, customer], [null, [0, 60], 'acme']);
  await removeWebhook(id);
}

const webhookTasks = { recoverWebhook, rotateSecret, filterWebhook };
const tasks = {
  orderCarousel,
  chooseThumbnail,
  importVideo,
  addCaptions,
  rollOut,
  ...webhookTasks,
};
/** Tasks with specific keyboard handling. The others run only in the full run. */
const keyTasks = scaled<Partial<typeof tasks>>({ orderCarousel, rollOut, rotateSecret }, tasks);
for (const name of ['mouse', 'keyboard'] as const) {
  for (const [task, run] of Object.entries(name === 'mouse' ? tasks : keyTasks)) {
    test(`by ${name} alone: ${task}`, options, async () => {
      await start();
      await run(name === 'mouse' ? mouse : keyboard);
    });
  }
}

test('a list of more rows than a page reaches its last', options, async () => {
  const names = Array.from({ length: 120 }, (_, index) => `preload.many.${index + 100}`);
  for (const name of names)
    await service.call('PUT', `/v1/settings/${name}`, { body: { value: 1 } });
  await start('/settings');
  await page.getByText('preload.many.100', { exact: true }).first().waitFor();
  const { body } = await service.call('GET', '/v1/settings?limit=100');
  const total: number = body.meta.total ?? names.length + 2;
  await button('Show more').click();
  await page.getByText('preload.many.219', { exact: true }).waitFor();
  await button('Show more').waitFor({ state: 'detached' });
  assert.ok((await page.locator('tbody tr').count()) >= Math.min(total, names.length));
});

test('the library with 10,000 items scrolls without a long task', options, async () => {
  await using database = openDatabase({
    connection: service.connection,
    poolSize: 1,
    log: silentLog,
  });
  await insertReadyItems(database.db, 1, 10_000);
  await start('/content?view=table&search=Clip+number');
  await page.getByText('10,000 items').waitFor();
  await page.evaluate(() => {
    const tasks: number[] = [];
    Object.assign(globalThis, { tasks });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) tasks.push(Math.round(duration));
    }).observe({ type: 'longtask' });
  });
  await browser.startTracing(page, {
    categories: ['toplevel', 'disabled-by-default-devtools.timeline'],
  });
  const rows = await page.evaluate(async (enough) => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    // Scrolls very fast: one screen per frame while pages load.
    for (let still = 0; still < 300 && scrollY < enough;) {
      const before = scrollY;
      scrollBy(0, innerHeight);
      await frame();
      still = scrollY === before ? still + 1 : 0;
    }
    return Math.max(
      ...Array.from(document.querySelectorAll('[aria-rowindex]'), (row) =>
        Number(row.getAttribute('aria-rowindex')),
      ),
    );
  }, scrolledRows * 56);
  const long = await page.evaluate(() => (globalThis as unknown as { tasks: number[] }).tasks);
  const tasks = tasksOf(await browser.stopTracing());
  const busy = tasks.filter((took) => took > 50);
  const longest = Math.round(Math.max(...tasks));
  // Uses CPU time, because the wall time of a task includes waiting for other tests.
  console.log(
    `  ${rows - 1} rows: longest task ${longest} ms of processor time; ` +
      `${long.length} took over 50 ms with waiting`,
  );
  assert.ok(longest > 2, 'the trace tells processor time');
  assert.ok(rows > scrolledRows);
  assert.deepEqual(busy, []);
  assert.deepEqual(errors, []);
});

/** CPU time of each task on the page's main thread, in milliseconds. */
function tasksOf(trace: Buffer): number[] {
  const { traceEvents: all } = JSON.parse(trace.toString('utf8')) as { traceEvents: TraceEvent[] };
  const mains = all.filter(
    ({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain',
  );
  const isPage = ({ pid, tid }: TraceEvent) =>
    mains.some((one) => one.pid === pid && one.tid === tid);
  return all
    .filter((event) => event.name.endsWith('RunTask') && isPage(event))
    .map(({ tdur = 0 }) => tdur / 1_000);
}

type TraceEvent = {
  name: string;
  pid: number;
  tid: number;
  /** Microseconds of CPU time. */
  tdur?: number;
  args: { name?: string };
};
