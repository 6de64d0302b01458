/**
 * Walks through the whole console over a crowded world: every view, wide and narrow, and every control
 * of it. Changes are refused by the test, so each control may be pressed, and what a page does with a
 * refusal is tried as well.
 *
 * Problems are collected and told together: a walk that ends at its first one finds one an hour.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { launchBrowser } from './browser.ts';
import { startCrowdedWorld } from './crowded-world.ts';
import { addressesOf, pressAll, visitAll, type Address } from './world/console-walk.ts';

const { browser, reason } = await launchBrowser();
after(() => browser?.close());
const options = browser === null ? { skip: reason } : { timeout: 540_000 };
const world = browser === null ? null : await startCrowdedWorld();

/** The views of `views.ts`, as patterns of their paths. */
async function readViews(): Promise<RegExp[]> {
  const source = await readFile(new URL('../../console/src/views.ts', import.meta.url), 'utf8');
  const patterns = [...source.matchAll(/\[\/\^(\S+)\$\/,/g)].map((match) => match[1] ?? '');
  assert.ok(patterns.length >= 20, `${patterns.length} views`);
  return patterns.map((pattern) => new RegExp(`^${pattern.replaceAll('\\/', '/')}$`));
}

const views = await readViews();
const viewOf = (path: string) => views.find((view) => view.test(path.split('?')[0] ?? ''));

test('the walk knows an address of every view', options, () => {
  assert.ok(world !== null);
  const known = new Set(addressesOf(world).map(({ path }) => viewOf(path)));
  assert.deepEqual(
    views.filter((view) => !known.has(view)),
    [],
  );
});

for (const width of [1_440, 390]) {
  test(`every view shows its crowd without a mistake, ${width} px wide`, options, async () => {
    assert.ok(browser !== null && world !== null);
    const problems = await visitAll({ browser, world, width }, addressesOf(world), (_page, watch) =>
      watch.assertWell('as it was opened'),
    );
    assert.deepEqual(problems, []);
  });
}

test(
  'every control may be pressed, also when the service refuses what it does',
  options,
  async () => {
    assert.ok(browser !== null && world !== null);
    const all = addressesOf(world);
    // Every address is the subject of the long run, crowded-console.faults.test.ts.
    const first = views.flatMap((view): Address[] => {
      const found = all.find(({ path }) => viewOf(path) === view);
      return found === undefined ? [] : [found];
    });
    let pressed = 0;
    const problems = await visitAll({ browser, world, width: 1_440 }, first, async (...visit) => {
      pressed += await pressAll(...visit);
    });
    assert.deepEqual(problems, []);
    assert.ok(pressed > 50, `${pressed} controls`);
  },
);
