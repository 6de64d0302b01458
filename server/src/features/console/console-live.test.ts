/** A broadcast can be managed from the console: key, state, new key, end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../test/waiting.ts';
import { freePort, publish } from '../../../test/live-publisher.ts';
import { startConsole, type ConsolePage } from '../../../test/console/console.ts';

const port = await freePort();
const started = await startConsole({
  REELFEED_RTMP_PORT: String(port),
  REELFEED_EGRESS_ALLOW: '127.0.0.1',
});
const { options } = started;
// Without a browser, the test is skipped.
const { service, page, errors, mouse, keyboard, button, heading, open } =
  started.console as ConsolePage;

test('a broadcast from its key to its end', options, async () => {
  await page.goto(service.consoleLink?.() ?? '');
  await heading('Overview').waitFor();
  await open(mouse, 'Live');
  await page.getByText('npx reelfeed live test').waitFor();
  await button('New live stream').click();
  await page.getByRole('textbox', { name: 'Title' }).fill('Open day');
  await page.getByText('Low: viewers are about two seconds behind').waitFor();
  await page.getByRole('combobox', { name: 'Latency' }).click();
  await page.getByRole('option', { name: 'normal latency' }).click();
  await button('Create live stream').click();
  const shown = page.getByRole('status').filter({ hasText: 'Stream key' });
  const key = (await shown.getByText('rf_live_').textContent()) ?? '';
  await using publishing = await publish(port, key, 1);
  await page.keyboard.press('Escape');
  await page.getByRole('cell', { name: 'live', exact: true }).waitFor();
  await page.getByRole('link', { name: 'Open day' }).click();
  await heading('Open day').waitFor();
  await page.getByText('normal latency', { exact: true }).waitFor();
  const streams = await service.call('GET', '/v1/live-streams');
  assert.equal(streams.body.data[0].latency, 'normal');
  const video = page.locator('main video');
  await video.waitFor();
  const clip = page.locator('form').filter({ has: button('Make the clip') });
  await button('Make the clip').waitFor();
  await mouse.write(clip.getByLabel('From second'), '0');
  await mouse.write(clip.getByLabel('To second'), '0.5');
  await mouse.write(clip.getByRole('textbox', { name: 'Title' }), 'The beginning');
  await mouse.press(button('Make the clip'));
  const made = page.getByRole('status').filter({ hasText: 'Created, and being processed' });
  await made.getByRole('link', { name: 'The beginning' }).waitFor();
  // The keyboard moves the end on the timeline, and rejections are shown.
  const end = page.getByRole('slider', { name: 'Where the clip ends' });
  await keyboard.press(end, 'ArrowRight');
  await until(
    'the end',
    () => clip.getByLabel('To second').inputValue(),
    (text) => text === '0.6',
  );
  await keyboard.write(clip.getByRole('textbox', { name: 'Title' }), 'By keyboard');
  await keyboard.press(button('Make the clip'));
  await made.getByRole('link', { name: 'By keyboard' }).waitFor();
  const clips = await service.call('GET', '/v1/content?search=keyboard');
  assert.equal(clips.body.data[0].title, 'By keyboard');
  // The broadcast is forwarded to a server, which rejects it with a reason.
  const passing = page.locator('form').filter({ has: button('Pass on') });
  const server = `rtmp://127.0.0.1:${port}/live`;
  await keyboard.write(passing.getByRole('textbox', { name: 'Server' }), server);
  await keyboard.write(passing.getByLabel('Stream key'), 'abcd-efgh-ijkl');
  await keyboard.press(button('Pass on'));
  await page.getByRole('cell', { name: '(…ijkl)' }).waitFor();
  await page.getByText('No stream has this key.').waitFor();
  await button('Remove…').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop passing on' }).click();
  await page.getByText('This broadcast is not passed on to any other service.').waitFor();
  await button('Reset key').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Reset key' }).click();
  await shown.getByText('rf_live_').waitFor();
  assert.notEqual(await shown.getByText('rf_live_').textContent(), key);
  await publishing.publisher.closed;
  await button('End').click();
  const dialog = page.getByRole('dialog');
  const endStream = dialog.getByRole('button', { name: 'End the stream' });
  assert.equal(await endStream.isDisabled(), true);
  await dialog.getByRole('textbox').fill('end');
  await endStream.click();
  await page.getByText('ended', { exact: true }).waitFor();
  assert.deepEqual(errors, []);
});
