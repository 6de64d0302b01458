/**
 * Funnels, paths, cohorts and series can be queried by mouse and by keyboard alone, the page shows
 * the numbers of the sent events, and its address opens the same view elsewhere.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { sampleEvent } from '../../../test/event-samples.ts';
import { createItem } from '../../../test/seed.ts';
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
const { service, page, mouse, keyboard, button, heading, start } = started.console as ConsolePage;

/** Sessions that reach each step: all 12 see an item, 8 play one, 4 like it and 2 buy. */
const kinds = [
  { kind: 'impression', reach: 12 },
  { kind: 'playStart', reach: 8 },
  { kind: 'like', reach: 4 },
  { kind: 'custom.purchase', reach: 2 },
];

before(async () => {
  if (started.console === null) return;
  const metric = { name: 'sales', type: 'sum', event: 'custom.purchase', field: 'amount' };
  const made = await service.call('POST', '/v1/metrics', {
    body: { ...metric, where: [{ field: 'currency', operator: 'eq', value: 'EUR' }] },
  });
  assert.equal(made.status, 201, made.text);
  const [news, sport] = [
    await createItem(service, { tags: ['news'], author: 'Ada' }),
    await createItem(service, { tags: ['sport'], author: 'Bob' }),
  ];
  const events = Array.from({ length: 12 }, (_, index) =>
    eventsOf(index, index % 2 ? sport : news),
  );
  const sent = await service.call('POST', '/v1/events/batch', { body: { events: events.flat() } });
  assert.equal(sent.body.data.received, 12 + 8 + 4 + 2, sent.text);
  await eventually('the purchases', async () => {
    const body = { events: { event: 'custom.purchase' } };
    const answer = await service.call('POST', '/v1/analytics/custom', { body });
    return answer.body.data.summary.count === 2 ? true : null;
  });
  await page.goto(service.consoleLink?.() ?? '');
  await heading('Overview').waitFor();
});

/** The events of a session an hour ago. */
function eventsOf(index: number, { id }: { id: string }): object[] {
  const at = Date.now() - 3_600_000;
  return kinds
    .filter(({ reach }) => index < reach)
    .map(({ kind }, step) => {
      const fields = {
        userId: `viewer-${index}`,
        deviceId: `device-${index}`,
        sessionId: `session-${index}`,
        timestamp: new Date(at + step * 10_000).toISOString(),
      };
      return kind === 'custom.purchase'
        ? { event: kind, ...fields, data: { currency: 'EUR', amount: 10 * (index + 1) } }
        : sampleEvent(kind as 'like', id, fields);
    });
}

const tab = (name: string) => page.getByRole('tab', { name, exact: true });
const group = (name: string) => page.getByRole('group', { name, exact: true });
const settled = () => page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });

/** Chooses an option of a select field. */
async function choose(hand: Hand, field: Locator, option: string): Promise<void> {
  if (hand.name === 'mouse') {
    await field.click();
    await page.getByRole('option', { name: option, exact: true }).click();
    return;
  }
  await hand.press(field, 'ArrowDown');
  const wanted = page.getByRole('option', { name: option, exact: true });
  await wanted.waitFor();
  const isAt = () => wanted.evaluate((element) => 'comboboxSelected' in element.dataset);
  for (let step = 0; step < 30 && !(await isAt()); step += 1)
    await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
}

const kindOf = (name: string) => group(name).getByRole('combobox', { name, exact: true });
/** Cell texts of the table below a heading, or of the only table. */
const rows = () =>
  page
    .locator('main tbody tr')
    .evaluateAll((found) =>
      found.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent.trim())),
    );

for (const hand of [mouse, keyboard]) {
  test(
    `by ${hand?.name ?? 'hand'} alone: a funnel with a fourth step and a condition`,
    options,
    async () => {
      await start('/journeys');
      await button('Add step').waitFor();
      await hand.press(button('Add step'));
      await page.getByText('The answer appears here once each event').waitFor();
      await choose(hand, kindOf('Step 4'), 'custom.purchase');
      await page.getByText('4. custom.purchase').first().waitFor();
      await settled();
      const all = await rows();
      assert.deepEqual(
        all.map(([name, viewers, sessions, previous, first]) => [
          name,
          viewers,
          sessions,
          previous,
          first,
        ]),
        [
          ['1. impression', '12', '12', '–', '100.0 %'],
          ['2. playStart', '8', '8', '66.7 %', '66.7 %'],
          ['3. like', '4', '4', '50.0 %', '33.3 %'],
          ['4. custom.purchase', '2', '2', '50.0 %', '16.7 %'],
        ],
      );
      await hand.press(button('Add condition: Step 1'));
      await hand.write(group('Step 1').getByRole('textbox', { name: 'Value' }), 'news');
      await page.getByText('6', { exact: true }).first().waitFor();
      await settled();
      assert.deepEqual(
        (await rows()).map(([, , sessions]) => sessions),
        ['6', '4', '2', '1'],
      );
      // The address identifies the view: another page that opens it shows the same.
      const shared = await page.context().newPage();
      await shared.goto(page.url());
      await shared.getByText('4. custom.purchase').first().waitFor();
      const value = shared.getByRole('group', { name: 'Step 1' }).getByRole('textbox', {
        name: 'Value',
      });
      assert.equal(await value.inputValue(), 'news');
      await shared.close();
      await takePictures(page, `journeys-funnel-${hand.name}`);
    },
  );
}

test('paths, cohorts and a series show the events that were sent', options, async () => {
  await start('/journeys');
  await tab('Paths').click();
  await page.getByRole('heading', { name: 'Step by step' }).waitFor();
  await settled();
  const paths = await rows();
  assert.ok(paths.some(([path, sessions]) => path === 'playStart' && sessions === '4'));
  assert.ok(paths.some(([path]) => path === 'playStart › like › custom.purchase'));
  await takePictures(page, 'journeys-paths');

  await tab('Cohorts').click();
  await page.getByText('Viewers who come back').waitFor();
  await choose(
    mouse,
    page.getByRole('combobox', { name: 'Cohorts by' }),
    'author of the first item',
  );
  await page.getByRole('cell', { name: 'Ada', exact: true }).waitFor();
  await settled();
  const cohorts = await rows();
  assert.deepEqual(cohorts.map(([name, size, first]) => [name, size, first]).toSorted(), [
    ['Ada', '6', '100 %'],
    ['Bob', '6', '100 %'],
  ]);
  await button('Show as a table: Viewers who come back').click();
  await page.getByRole('cell', { name: '6 of 6' }).first().waitFor();
  await button('Show as a chart: Viewers who come back').click();
  await takePictures(page, 'journeys-cohorts');

  await tab('Series').click();
  await choose(mouse, kindOf('Events'), 'custom.purchase');
  await choose(mouse, page.getByRole('combobox', { name: 'Add up' }), 'amount');
  await choose(mouse, page.getByRole('combobox', { name: 'Break down by' }), 'currency');
  await page.getByRole('cell', { name: 'EUR', exact: true }).waitFor();
  await settled();
  assert.deepEqual(await rows(), [['EUR', '2', '2', '30.00', '15.00']]);
  await takePictures(page, 'journeys-series');
});

test('without the experiment there is no break-down by its variants', options, async () => {
  const made = await service.call('POST', '/v1/experiments', {
    body: {
      name: 'Preload more',
      type: 'config',
      traffic: 1,
      metrics: ['watchTime'],
      variants: [
        { id: 'control', name: 'control', traffic: 0.5 },
        { id: 'more', name: 'more', traffic: 0.5, config: { preload: 3 } },
      ],
    },
  });
  await service.call('POST', `/v1/experiments/${made.body.data.id}/start`);
  await start('/journeys');
  await page.getByText('1. impression').first().waitFor();
  const experiment = page.getByRole('combobox', { name: 'Experiment' });
  await choose(mouse, experiment, 'Preload more');
  const breakdown = page.getByRole('combobox', { name: 'Break down by' });
  await choose(mouse, breakdown, 'Variant');
  assert.match(page.url(), /breakdown=experimentVariant/);
  // Resets the experiment with the field's clear button.
  await experiment.hover();
  await page
    .locator('.mantine-Select-root', { has: experiment })
    .locator('.mantine-InputClearButton-root, button')
    .first()
    .click();
  await page.getByText('1. impression').first().waitFor();
  assert.equal(await breakdown.inputValue(), '');
  assert.equal(await page.getByText('The answer appears here once each event').count(), 0);
  // An address that names variants without an experiment also works.
  await start('/journeys?breakdown=experimentVariant');
  await page.getByText('1. impression').first().waitFor();
});

test('a question without events shows guidance, and a rejected one says why', options, async () => {
  await start(`/journeys?country=FR`);
  await page.getByText('No such event in this range.').waitFor();
  await start(`/journeys?startDate=2020-01-01&endDate=2026-01-01`);
  await page.getByRole('alert').getByText('365 days').waitFor();
});
