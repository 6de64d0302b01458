/** Runs an experiment in the console by mouse, from hypothesis to roll-out. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { eventually, send, type Reply } from '../../../test/service.ts';
import { startConsole, type ConsolePage } from '../../../test/console/console.ts';

const started = await startConsole();
const { options } = started;
// Without a browser, every test in this file is skipped.
const { service, page, errors, mouse, button, link, heading, open, start } =
  started.console as ConsolePage;

before(async () => {
  if (started.console === null) return;
  await page.goto(service.consoleLink?.() ?? '');
  await heading('Overview').waitFor();
});

const field = (name: string) => page.getByLabel(name, { exact: true }).first();
const inDialog = (name: string) => page.getByRole('dialog').getByRole('button', { name });

async function settingOf(userId: string): Promise<unknown> {
  const reply = await send(`${service.url}/v1/config?userId=${userId}`, 'GET', {
    key: service.publishableKey,
  });
  assert.equal(reply.status, 200, reply.text);
  return reply.body.data.settings['player.preload'];
}

/** The API's view of the test's experiment. */
async function experiment(): Promise<Reply['body']> {
  const { body } = await service.call('GET', '/v1/experiments?tag=player');
  const { id } = body.data.at(-1);
  return (await service.call('GET', `/v1/experiments/${id}`)).body.data;
}

async function eventuallyIs(fields: object): Promise<void> {
  await eventually(JSON.stringify(fields), async () => {
    const found = await experiment();
    return Object.entries(fields).every(([key, value]) => found[key] === value) ? true : null;
  });
}

test('an experiment from its hypothesis to its roll-out', options, async () => {
  await open(mouse, 'Experiments');
  await mouse.press(button('Holdout…'));
  await mouse.write(page.getByRole('dialog').getByLabel('Share of viewers'), '1');
  await mouse.press(inDialog('Save the holdout'));
  await button('Holdout: 1.0 %…')
    .or(button(/^Holdout: 1/))
    .first()
    .waitFor();

  await mouse.press(link('New experiment'));
  // Name fields of variants come later in the form.
  const names = page.getByRole('textbox', { name: 'Name', exact: true });
  await mouse.write(names.first(), 'Preload more');
  await mouse.press(page.getByRole('combobox', { name: 'What it changes' }));
  await mouse.press(page.getByRole('option', { name: 'Config: settings of the app' }));
  await mouse.write(field('Hypothesis'), 'Who waits less watches more.');
  await mouse.write(field('Tags'), 'player');
  await page.keyboard.press('Enter');
  await mouse.write(field('End (empty: when you stop it)'), '2099-01-01T00:00');
  const treatment = page.getByRole('group', { name: 'Variant treatment' });
  await mouse.write(treatment.getByLabel('Name', { exact: true }), 'Three ahead');
  await mouse.write(treatment.getByLabel('Sets'), 'player.preload');
  await mouse.write(treatment.getByLabel('to', { exact: true }), '4');
  await mouse.write(treatment.getByLabel('Tried by'), 'colleague');
  await page.keyboard.press('Enter');
  await mouse.write(page.getByLabel('Share of viewers'), '20');
  await mouse.press(button('Create draft'));
  await page.getByText('Hypothesis: Who waits less watches more.').waitFor();
  await eventually('the trial', async () => ((await settingOf('colleague')) === 4 ? true : null));

  await mouse.press(button('Start'));
  await button('Stop…').waitFor();
  await mouse.press(button('More viewers, later end…'));
  await mouse.write(page.getByRole('dialog').getByLabel('Share of viewers'), '100');
  await mouse.press(inDialog('Change the experiment'));
  await eventuallyIs({ traffic: 1 });

  await mouse.press(button('Pause…'));
  await mouse.write(page.getByRole('dialog').getByLabel('Why'), 'Phones get warm.');
  await mouse.press(inDialog('Pause the experiment'));
  await mouse.press(button('Resume'));
  await button('Pause…').waitFor();
  await eventuallyIs({ pausedAt: null });

  await mouse.write(field('Note'), 'Two more weeks.');
  await mouse.press(button('Add the note'));
  await page.getByRole('cell', { name: 'Two more weeks.' }).waitFor();
  await page.getByRole('cell', { name: 'Phones get warm.' }).waitFor();

  await mouse.press(button('Stop…'));
  await mouse.press(inDialog('Stop the experiment'));
  await mouse.press(button('Roll out…'));
  const dialog = page.getByRole('dialog');
  await mouse.press(dialog.getByRole('combobox', { name: 'Variant' }));
  await mouse.press(page.getByRole('option', { name: 'Three ahead' }));
  await mouse.press(dialog.getByRole('button', { name: 'Roll out', exact: true }));
  await eventually('the roll-out', async () => ((await settingOf('anybody')) === 4 ? true : null));

  await mouse.press(button('Clone'));
  await heading('Copy of Preload more').waitFor();
  assert.deepEqual(errors, []);
});

test(
  'what is typed while a dialog is still opening stays, and so does what is half typed',
  options,
  async () => {
    const made = await service.call('POST', '/v1/experiments', {
      body: {
        name: 'Opened slowly',
        type: 'config',
        traffic: 0.2,
        metrics: ['watchTime'],
        variants: [
          { id: 'control', name: 'control', traffic: 0.5 },
          { id: 'more', name: 'more', traffic: 0.5, config: { slowly: 3 } },
        ],
      },
    });
    const { id } = made.body.data;
    await service.call('POST', `/v1/experiments/${id}/start`);
    await start(`/experiments/${id}`);
    await button('More viewers, later end…').waitFor();
    // Delays timers, as on a busy machine: the dialog takes the focus in one of them.
    await page.evaluate((lateMs) => {
      const onTime = window.setTimeout.bind(window);
      const late = (run: () => void, ms = 0, ...given: unknown[]) =>
        onTime(run, ms === 0 ? lateMs : ms, ...given);
      window.setTimeout = late as typeof window.setTimeout;
    }, 1_000);
    await mouse.press(button('More viewers, later end…'));
    const share = page.getByRole('dialog').getByLabel('Share of viewers');
    await share.click();
    await share.press('ControlOrMeta+A');
    await share.press('Backspace');
    // When emptied, it does not jump back to the old share.
    assert.equal((await share.inputValue()).replace(' %', ''), '');
    await page.keyboard.type('100', { delay: 900 });
    assert.equal(await share.inputValue(), '100 %');
    await mouse.press(inDialog('Change the experiment'));
    await eventually('the share', async () => {
      const { body } = await service.call('GET', `/v1/experiments/${id}`);
      return body.data.traffic === 1 ? true : null;
    });
  },
);
