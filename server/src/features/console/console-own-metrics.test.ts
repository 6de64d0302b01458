/**
 * From a custom metric to the roll-out of an experiment decided by it, with a guardrail, results
 * over days and by segment, and a shared link, by mouse and by keyboard alone.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { query } from '../../../test/seed.ts';
import { eventually, send, type Reply } from '../../../test/service.ts';
import { startConsole, type ConsolePage, type Hand } from '../../../test/console/console.ts';

const started = await startConsole({
  REELFEED_EXPERIMENT_MIN_DAYS: '0',
  REELFEED_EXPERIMENT_MIN_UNITS: '5',
});
const { options } = started;
// Without a browser, every test in this file is skipped.
const { service, page, mouse, keyboard, button, link, heading, open, start } =
  started.console as ConsolePage;

before(async () => {
  if (started.console === null) return;
  await page.goto(service.consoleLink?.() ?? '');
  await heading('Overview').waitFor();
});

const field = (name: string) => page.getByRole('textbox', { name, exact: true });

async function define(hand: Hand, name: string): Promise<void> {
  await open(hand, 'Metrics');
  await hand.press(button('New metric'));
  await hand.write(field('Name'), name);
  await hand.write(field('Kind of event'), 'custom.purchase');
  await hand.press(button('Add condition'));
  await hand.write(page.getByPlaceholder('Field'), 'currency');
  await page.keyboard.press('Tab');
  await hand.write(field('Value'), 'EUR');
  await hand.press(button('Define metric'));
  await button(`Delete ${name}`).waitFor();
}

async function plan(hand: Hand, name: string, metric: string): Promise<string> {
  await open(hand, 'Experiments');
  await hand.press(link('New experiment'));
  const treatment = page.getByRole('group', { name: 'Variant treatment' });
  const recency = treatment.getByRole('textbox', { name: 'Recency' });
  await recency.waitFor();
  await hand.write(page.getByRole('textbox', { name: 'Name', exact: true }).first(), name);
  await hand.write(recency, '1');
  const checkbox = page.getByRole('checkbox', { name: wordsOf(metric) });
  await checkbox.waitFor();
  if (hand.name === 'mouse') await checkbox.check();
  else await hand.press(checkbox, ' ');
  await hand.press(button('Add guardrail'));
  await button('Remove the guardrail Sessions per user').waitFor();
  await hand.press(button('Create draft'));
  await heading(name).waitFor();
  await hand.press(button('Start'));
  await button('Stop…').waitFor();
  const [running] = (await service.call('GET', '/v1/experiments?status=running')).body.data;
  assert.ok(running.metrics.includes(metric));
  assert.deepEqual(running.guardrails, [{ metric: 'sessionsPerUser', margin: 0.02 }]);
  return running.id;
}

/** A metric's name as the console displays it. */
function wordsOf(name: string): string {
  const spaced = name.replace(/[A-Z_]/g, (letter) => ` ${letter.replace('_', '').toLowerCase()}`);
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

/** Viewers who see the feed and buy, more often in the treatment group. */
async function buy(experimentId: string, by: string): Promise<void> {
  const events: object[] = [];
  for (let index = 0; index < 40; index += 1) {
    const userId = `${by}-${index}`;
    await send(`${service.url}/v1/feed?userId=${userId}&country=de`, 'GET', {
      key: service.publishableKey,
    });
    events.push({ event: 'custom.purchase', userId, data: { currency: 'EUR' } });
  }
  await service.call('POST', '/v1/events/batch', { body: { events } });
  await eventually('the participants', async () => {
    const { body } = await service.call('GET', `/v1/experiments/${experimentId}/results`);
    const { variants } = body.data;
    const count = variants.reduce((sum: number, one: Reply['body']) => sum + one.participants, 0);
    return count === 40 ? true : null;
  });
}

for (const hand of [mouse, keyboard]) {
  test(
    `by ${hand?.name ?? 'hand'} alone: a metric of one's own, from definition to roll-out`,
    options,
    async () => {
      const metric = `sales_${hand.name}`;
      await start();
      await define(hand, metric);
      const id = await plan(hand, `Sales by ${hand.name}`, metric);
      await buy(id, hand.name);
      await page.reload();
      await page.getByRole('heading', { name: wordsOf(metric) }).waitFor();
      await page.getByRole('heading', { name: 'Guardrails' }).waitFor();
      await page.getByRole('heading', { name: 'By segment and over time' }).waitFor();
      await page.getByRole('cell', { name: 'DE', exact: true }).first().waitFor();
      await hand.press(button('Create link'));
      const shared = page.getByRole('link', { name: 'Open', exact: true });
      const url = (await shared.first().getAttribute('href')) ?? '';
      const answer = await fetch(url);
      assert.equal(answer.status, 200);
      assert.match(await answer.text(), new RegExp(`Sales by ${hand.name}`));
      await hand.press(button('Revoke'));
      await shared.first().waitFor({ state: 'detached' });
      assert.equal((await fetch(url)).status, 404);
      await hand.press(button('Stop…'));
      await hand.press(
        page.getByRole('dialog').getByRole('button', { name: 'Stop the experiment' }),
      );
      await button('Roll out…').waitFor();
      await open(hand, 'Metrics');
      await hand.press(button(`Delete ${metric}`));
      await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Delete the metric' }));
      await button(`Delete ${metric}`).waitFor({ state: 'detached' });
    },
  );
}

test('a harmed guardrail is the first thing on the page', options, async () => {
  const made = await service.call('POST', '/v1/experiments', {
    body: {
      name: 'Harmful',
      type: 'config',
      variants: [
        { id: 'control', name: 'As it is', traffic: 0.5 },
        { id: 'b', name: 'Louder', traffic: 0.5, config: { 'player.volume': 2 } },
      ],
      metrics: ['watchTime'],
      guardrails: [{ metric: 'retention', margin: 0.02 }],
    },
  });
  const { id } = made.body.data;
  await service.call('POST', `/v1/experiments/${id}/start`);
  const harm = {
    metric: 'retention',
    variant: 'b',
    at: new Date().toISOString(),
    lift: -0.2,
    liftInterval: [-0.3, -0.1],
  };
  await query(service, 'update experiment set harms = $1 where experiment_id = $2', [
    JSON.stringify([harm]),
    id,
  ]);
  await page.goto(`${service.url}/console/#/experiments/${id}`);
  await page
    .getByRole('alert')
    .getByText('Retention of “Louder” is worse by more than 2.0 %')
    .waitFor();
});
