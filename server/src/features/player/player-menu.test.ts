/** Viewers can hide and report an item in the player's menu, and undo it. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { addImage, createCarousel } from '../../../test/carousels.ts';
import { eventually } from '../../../test/service.ts';
import { openStoredEvents } from '../../../test/stored-events.ts';
import { startPlayerPages } from '../../../test/player/player.ts';

const { options, pages } = await startPlayerPages();
const hasBrowser = !('skip' in options);
const stored = hasBrowser ? await openStoredEvents(pages.service) : null;
if (hasBrowser) {
  const { id } = await createCarousel(pages.service, 'carousel', { author: 'Ada' });
  await addImage(pages.service, id, { color: '#d03030' });
}

test('an item is refused, taken back and reported from the menu', options, async (context) => {
  const { page, errors } = await pages.visit(context);
  const slide = page.locator('.slide:not([inert])');
  const choose = async (name: string) => {
    await slide.locator('.options summary').click();
    await choosing(name);
  };
  const choosing = async (name: string) => {
    await slide.getByRole('button', { name }).click();
    assert.equal(await slide.locator('.options').getAttribute('open'), null);
  };
  await choose('Not interested');
  await choose('Not interested');
  await choose('Show less from this author');
  await slide.locator('.options summary').click();
  await slide.getByRole('button', { name: 'Report' }).click();
  await choosing('Violence');
  await slide.locator('.options summary').focus();
  await page.keyboard.press('Enter');
  const pressed = slide.locator('.menu [aria-pressed="true"]');
  assert.deepEqual(await pressed.allTextContents(), ['Show less from this author', 'Report']);
  const offered = await slide.locator('.menu').innerText();
  assert.doesNotMatch(offered, /topics/, 'the item has no tags');
  await page.keyboard.press('Escape');
  assert.equal(await slide.locator('.options').getAttribute('open'), null);
  await page.goto('about:blank');
  const told: unknown[] = [];
  await eventually('the events to be stored', async () => {
    for (const { event, data } of (await stored?.fresh()) ?? []) {
      if (event === 'notInterested') told.push([data['scope'], data['undo']]);
      if (event === 'report') told.push([data['reason'], data['undo']]);
    }
    return told.length >= 4 ? true : null;
  });
  assert.deepEqual(told, [
    ['item', false],
    ['item', true],
    ['author', false],
    ['violence', false],
  ]);
  assert.deepEqual(errors, []);
});
