/** Proves that a person runs a broadcast from the console: key, state, another key, end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort, publish } from '../../../test/live-publisher.ts';
import { startConsole, type ConsolePage } from './console.fixture.ts';

const port = await freePort();
const started = await startConsole({ REELFEED_RTMP_PORT: String(port) });
const { options } = started;
// Without a browser the test skips.
const { service, page, errors, mouse, button, heading, open } = started.console as ConsolePage;

test('a broadcast from its key to its end', options, async () => {
  await page.goto(service.consoleLink?.() ?? '');
  await heading('Overview').waitFor();
  await open(mouse, 'Live');
  await page.getByText('npx reelfeed live test').waitFor();
  await button('New live stream').click();
  await page.getByRole('textbox', { name: 'Title' }).fill('Open day');
  await button('Create live stream').click();
  const shown = page.getByRole('status').filter({ hasText: 'Stream key' });
  const key = (await shown.getByText('rf_live_').textContent()) ?? '';
  await using publishing = await publish(port, key, 1);
  await page.keyboard.press('Escape');
  await page.getByRole('cell', { name: 'live', exact: true }).waitFor();
  await page.getByRole('link', { name: 'Open day' }).click();
  await heading('Open day').waitFor();
  const video = page.locator('main video');
  await video.waitFor();
  await button('Reset key').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Reset key' }).click();
  await shown.getByText('rf_live_').waitFor();
  assert.notEqual(await shown.getByText('rf_live_').textContent(), key);
  await publishing.publisher.closed;
  await button('End').click();
  const dialog = page.getByRole('dialog');
  const end = dialog.getByRole('button', { name: 'End the stream' });
  assert.equal(await end.isDisabled(), true);
  await dialog.getByRole('textbox').fill('end');
  await end.click();
  await page.getByText('ended', { exact: true }).waitFor();
  assert.deepEqual(errors, []);
});
