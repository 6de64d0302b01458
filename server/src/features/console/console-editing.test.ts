/**
 * Nothing is lost in the console: concurrent editors, unsaved changes, interrupted uploads, and
 * confirmation of destructive actions. Also covers the tasks of the newer pages by mouse and by
 * keyboard alone.
 */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, test } from 'node:test';
import { mediaSample } from '../../../test/media-samples.ts';
import { createReadyItems } from '../../../test/seed.ts';
import { eventually } from '../../../test/service.ts';
import {
  startConsole,
  takePictures,
  type ConsolePage,
  type Hand,
} from '../../../test/console/console.ts';

const started = await startConsole();
const { options } = started;
// Without a browser, every test in this file is skipped.
const { service, page, errors, mouse, keyboard, button, link, heading, start } =
  started.console as ConsolePage;
const call = async (method: string, path: string, body?: object) =>
  (await service.call(method, path, { body })).body.data;
const field = (name: string) => page.getByRole('textbox', { name, exact: true });
const dialog = page?.getByRole('dialog');

before(async () => {
  if (started.console === null) return;
  await page.goto(service.consoleLink?.() ?? '');
  await heading('Overview').waitFor();
});

async function newItem(title: string): Promise<string> {
  const [id = ''] = await createReadyItems(service, 1, () => ({ title }));
  return id;
}

async function makeCarousel(hand: Hand): Promise<void> {
  await start('/content');
  await hand.press(button('New carousel'));
  // The keyboard focuses the selected option and changes it with the arrow keys.
  if (hand.name === 'keyboard') {
    await hand.press(dialog.getByRole('radio', { name: /^Images/ }), 'ArrowDown');
  } else await dialog.getByRole('radio', { name: /^Videos of the library/ }).click();
  await hand.write(dialog.getByRole('textbox', { name: 'Title' }), `Row by ${hand.name}`);
  await hand.press(dialog.getByRole('button', { name: 'Create carousel' }));
  await heading(`Row by ${hand.name}`).waitFor();
  const [made] = await call('GET', '/v1/content?contentType=video_carousel');
  assert.equal(made.title, `Row by ${hand.name}`);
}

async function restoreSome(hand: Hand): Promise<void> {
  const title = `Archived by ${hand.name}`;
  const ids = [await newItem(title), await newItem(title)];
  for (const id of ids) await call('DELETE', `/v1/content/${id}`);
  await start(`/content?archived=only&search=${encodeURIComponent(title)}`);
  const boxes = page.getByRole('checkbox', { name: /^Select/ });
  await boxes.nth(1).waitFor();
  for (const place of [0, 1]) await hand.press(boxes.nth(place), 'Space');
  assert.equal(await button('Tag…').count(), 0);
  await hand.press(button('Restore…'));
  await hand.press(dialog.getByRole('button', { name: 'Restore 2 items' }));
  await dialog.waitFor({ state: 'detached' });
  for (const id of ids) assert.equal((await call('GET', `/v1/content/${id}`)).archivedAt, null);
}

async function eraseViewer(hand: Hand): Promise<void> {
  const userId = `somebody/${hand.name}`;
  await start('/viewers');
  await hand.write(field('User id'), userId);
  await hand.press(button('Look up'));
  await hand.press(button('Erase this viewer…'));
  assert.ok(await dialog.getByRole('button', { name: 'Erase permanently' }).isDisabled());
  await hand.write(dialog.getByRole('textbox'), 'erase');
  await hand.press(dialog.getByRole('button', { name: 'Erase permanently' }));
  await page.getByText('Erased', { exact: true }).waitFor();
  const erasure = await call('GET', `/v1/users/data?userId=${encodeURIComponent(userId)}`);
  assert.equal(erasure.status, 'complete');
}

async function readKeyLog(hand: Hand): Promise<void> {
  await start('/keys');
  await hand.press(button('New key'));
  await hand.write(field('Name'), `limited by ${hand.name}`);
  await hand.write(page.getByLabel('Requests per minute'), '100');
  await hand.press(button('Create key'));
  const secret = await page.getByText(/^rf_pk_\w{20,}$/).innerText();
  await service.call('GET', '/v1/feed?deviceId=one', { key: secret });
  await page.keyboard.press('Escape');
  await hand.press(link(`limited by ${hand.name}`));
  await page.getByText('At most 100 requests per minute').waitFor();
  await page.getByText('GET /v1/feed').waitFor({ timeout: 30_000 });
}

async function changeRule(hand: Hand): Promise<void> {
  const made = await call('POST', '/v1/ranking/rules', {
    type: 'boost',
    match: { author: hand.name },
    factor: 2,
  });
  await start('/feed?tab=rules');
  await hand.press(button('Change: boost by 2').first());
  await hand.write(dialog.getByRole('textbox', { name: 'Section' }), 'sport');
  await hand.press(dialog.getByRole('button', { name: 'Save the rule' }));
  await dialog.waitFor({ state: 'detached' });
  const rules = await call('GET', '/v1/ranking/rules');
  const rule = rules.find(({ id }: { id: string }) => id === made.id);
  assert.deepEqual(rule.match, { author: hand.name, section: 'sport' });
  await hand.press(button('Remove: boost by 2').first());
  await hand.press(dialog.getByRole('button', { name: 'Cancel' }));
  assert.equal((await call('GET', '/v1/ranking/rules')).length, rules.length);
  await call('DELETE', `/v1/ranking/rules/${made.id}`);
}

async function find(hand: Hand): Promise<void> {
  const id = await newItem(`Needle of ${hand.name}`);
  await start('/overview');
  if (hand.name === 'mouse') await button('Find…').click();
  else await page.keyboard.press('Control+K');
  await page.getByRole('combobox', { name: 'Find' }).fill(`needle of ${hand.name}`);
  const found = page.getByRole('option', { name: `Needle of ${hand.name}` });
  await found.waitFor();
  if (hand.name === 'mouse') await found.click();
  else await page.keyboard.press('Enter');
  await heading(`Needle of ${hand.name}`).waitFor();
  assert.ok(page.url().endsWith(id));
  await page.locator('main').focus();
  await page.keyboard.press('?');
  await dialog.getByText('Show the shortcuts').waitFor();
}

async function deleteStream(hand: Hand): Promise<void> {
  const { id } = await call('POST', '/v1/live-streams', { title: `Stream of ${hand.name}` });
  await start(`/live/${id}`);
  await hand.press(button('Delete…'));
  await hand.press(dialog.getByRole('button', { name: 'Delete the stream' }));
  await heading('Live').waitFor();
  assert.equal((await service.call('GET', `/v1/live-streams/${id}`)).status, 404);
}

async function editExperiment(hand: Hand): Promise<void> {
  const { id } = await call('POST', '/v1/experiments', {
    name: `Draft of ${hand.name}`,
    type: 'ranking',
    traffic: 1,
    metrics: ['watchTime'],
    variants: [
      { id: 'control', name: 'control', traffic: 0.5 },
      { id: 'more', name: 'more', traffic: 0.5, config: { weights: { recency: 0.9 } } },
    ],
  });
  await start(`/experiments/${id}`);
  await hand.press(link('Edit'));
  const more = page.getByRole('group', { name: 'Variant more' });
  await hand.write(more.getByRole('textbox', { name: 'Engagement' }), '0.4');
  await hand.press(button('Save draft'));
  await page.getByText('Saved.').waitFor();
  const { variants, name } = await call('GET', `/v1/experiments/${id}`);
  assert.deepEqual(variants[1].config, { weights: { recency: 0.9, engagement: 0.4 } });
  assert.equal(name, `Draft of ${hand.name}`);
}

const tasks = {
  makeCarousel,
  restoreSome,
  eraseViewer,
  readKeyLog,
  changeRule,
  find,
  deleteStream,
  editExperiment,
};
for (const name of ['mouse', 'keyboard'] as const) {
  for (const [task, run] of Object.entries(tasks)) {
    test(`by ${name} alone: ${task}`, options, async () => {
      await run(name === 'mouse' ? mouse : keyboard);
    });
  }
}

test('two editors of different fields both keep their changes', options, async () => {
  const id = await newItem('First title');
  await start(`/content/${id}`);
  await field('Description').fill('By me');
  await call('PATCH', `/v1/content/${id}`, { title: 'By somebody else' });
  await button('Save').click();
  await page.getByText('Someone else has changed title in the meantime').waitFor();
  const item = await call('GET', `/v1/content/${id}`);
  assert.deepEqual([item.title, item.description], ['By somebody else', 'By me']);
});

test('two editors of the same field see both versions, and choose', options, async () => {
  const id = await newItem('First title');
  for (const [choice, kept] of [
    ['Stored: ', 'Theirs'],
    ['Yours: ', 'Mine'],
  ] as const) {
    await call('PATCH', `/v1/content/${id}`, { title: 'First title' });
    await start(`/content/${id}`);
    await field('Title').fill('Mine');
    await call('PATCH', `/v1/content/${id}`, { title: 'Theirs' });
    await button('Save').click();
    await dialog.getByText('Someone else has changed the same fields').waitFor();
    await takePictures(page, 'conflict');
    assert.equal((await call('GET', `/v1/content/${id}`)).title, 'Theirs');
    await dialog.getByRole('radio', { name: new RegExp(`^${choice}`) }).check();
    await dialog.getByRole('button', { name: 'Save this choice' }).click();
    await dialog.waitFor({ state: 'detached' });
    await eventually('the choice to be stored', async () =>
      (await call('GET', `/v1/content/${id}`)).title === kept ? true : null,
    );
    assert.equal(await field('Title').inputValue(), kept);
  }
  errors.splice(0);
});

test('leaving unsaved changes asks for confirmation', options, async () => {
  const id = await newItem('Left alone');
  await start(`/content/${id}`);
  await field('Title').fill('Not saved');
  await link('Audit').click();
  await dialog.getByText('Leave without saving?').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await field('Title').inputValue(), 'Not saved');
  const asked = page.waitForEvent('dialog');
  const reloading = page.reload().catch(() => undefined);
  await (await asked).dismiss();
  await reloading;
  assert.equal(await field('Title').inputValue(), 'Not saved');
  await page.goBack();
  await dialog.getByRole('button', { name: 'Leave without saving' }).click();
  await field('Title').waitFor({ state: 'detached' });
});

test(
  'an upload continues across pages and after a reload, and can be cancelled',
  options,
  async () => {
    const small = await readFile(await mediaSample('small.mp4'));
    // Bytes after the last box are not part of the video.
    const buffer = Buffer.concat([small, Buffer.alloc(6_000_000)]);
    const folder = await mkdtemp(path.join(tmpdir(), 'reelfeed-console-'));
    const write = async (name: string) => {
      await writeFile(path.join(folder, name), buffer);
      return path.join(folder, name);
    };
    const file = await write('long way.mp4');
    let isSlow = true;
    await page.route('**/uploads/**', async (route) => {
      if (route.request().method() === 'PATCH' && isSlow) {
        const offset = Number(route.request().headers()['upload-offset']);
        if (offset > 0) return undefined;
      }
      return route.continue();
    });
    await start('/content');
    await page.getByLabel('Videos to upload').setInputFiles(file);
    await page.getByRole('link', { name: 'Audit' }).click();
    await button(/^Uploading [1-9]/).waitFor();
    page.once('dialog', (asked) => void asked.accept());
    await page.reload();
    await button('1 unfinished').click();
    await dialog.getByText('choose the same file to continue').waitFor();
    await takePictures(page, 'uploads');
    isSlow = false;
    await dialog.getByLabel('File of long way.mp4').setInputFiles(file);
    await dialog.getByText('long way.mp4: uploaded').waitFor();
    const { body } = await service.call('GET', '/v1/content?search=long+way');
    assert.equal(body.meta.total, 1);
    isSlow = true;
    await page.keyboard.press('Escape');
    await start('/content');
    await page.getByLabel('Videos to upload').setInputFiles(await write('not wanted.mp4'));
    await button('Cancel upload').click();
    await dialog.getByRole('button', { name: 'Cancel upload' }).click();
    await eventually('the item to be archived', async () => {
      const { body } = await service.call('GET', '/v1/content?search=not+wanted');
      return body.meta.total === 0 ? true : null;
    });
    await page.unroute('**/uploads/**');
    await rm(folder, { recursive: true });
    errors.splice(0);
  },
);

test('a list is found again where it was left', options, async () => {
  await createReadyItems(service, 80, (index) => ({ title: `Placed ${index}` }));
  await start('/content?search=Placed');
  await page.getByText('80 items').waitFor();
  await page.evaluate(() => scrollTo(0, 2_000));
  await eventually('the list to be scrolled', async () =>
    (await page.evaluate(() => scrollY)) > 1_500 ? true : null,
  );
  const left = await page.evaluate(() => scrollY);
  await page.locator('.item-row a').nth(10).click();
  await link('Back to Content').click();
  await page.locator('.item-row a').first().waitFor();
  await eventually('the place', async () =>
    Math.abs((await page.evaluate(() => scrollY)) - left) < 60 ? true : null,
  );
  await button('Title').click();
  await page.getByRole('columnheader', { name: 'Title' }).waitFor();
  assert.match(page.url(), /sort=title/);
});

test('settings, rules, schedules and viewer keys are created in drawers', options, async () => {
  await start('/settings');
  await button('New setting').click();
  await dialog.getByLabel('Name of the setting').fill('player.drawer');
  // An accidental key press does not lose input.
  await page.keyboard.press('Escape');
  await page.getByText('Close without saving?').waitFor();
  await button('Cancel').click();
  await dialog.getByLabel('Value of the setting').fill('3');
  await button('Save setting').click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal((await call('GET', '/v1/settings/player.drawer')).value, 3);

  await start('/feed?tab=rules');
  await button('New rule').click();
  await dialog.getByRole('textbox', { name: 'Author' }).fill('drawer');
  await button('Create rule').click();
  await dialog.waitFor({ state: 'detached' });
  const rules = await call('GET', '/v1/ranking/rules');
  const rule = rules.find(({ match }: { match: object }) => 'author' in match);
  assert.deepEqual([rule.type, rule.match, rule.factor], ['boost', { author: 'drawer' }, 2]);

  await start('/exports');
  await button('New schedule').click();
  await button('Create schedule').click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal((await call('GET', '/v1/exports/schedules')).length, 1);
  await button(/^Stop the schedule of events/).click();
  await dialog.getByRole('button', { name: 'Stop the schedule' }).click();
  await page.getByText('No schedules yet.').waitFor();

  await start('/keys');
  await button('New viewer key').click();
  await dialog.getByLabel('Name of the viewer key').fill('drawer');
  await button('Create viewer key').click();
  await dialog.getByText('The key is shown only once').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Rotate drawer' }).waitFor();
});

test('a bulk job takes the filter of its address into its drawer', options, async () => {
  await start('/content/jobs?make=job&author=nobody-at-all');
  await dialog.getByLabel('Author').waitFor();
  assert.equal(await dialog.getByLabel('Author').inputValue(), 'nobody-at-all');
  await dialog.getByRole('combobox', { name: 'Add tags' }).fill('drawer');
  await page.keyboard.press('Enter');
  await button('Try it without changing anything').click();
  await dialog.getByText('0 items match').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  assert.match(page.url(), /#\/content\/jobs$/);
});
