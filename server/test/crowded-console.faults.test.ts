/** Presses every control at every address of the console, wide and narrow; some minutes. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { launchBrowser } from './browser.ts';
import { startCrowdedWorld } from './crowded-world.ts';
import { addressesOf, pressAll, visitAll } from './world/console-walk.ts';

const { browser, reason } = await launchBrowser();
after(() => browser?.close());
const options = browser === null ? { skip: reason } : { timeout: 540_000 };
const world = browser === null ? null : await startCrowdedWorld();

for (const width of [1_440, 390]) {
  test(`every control at every address, ${width} px wide`, options, async () => {
    assert.ok(browser !== null && world !== null);
    const walk = { browser, world, width };
    let pressed = 0;
    const problems = await visitAll(walk, addressesOf(world), async (...visit) => {
      pressed += await pressAll(...visit);
    });
    assert.deepEqual(problems, []);
    assert.ok(pressed > 200, `${pressed} controls`);
  });
}
