/**
 * Walks through the whole console in a crowded world: every view, wide and narrow, and every
 * control in it. The test rejects all changes, so each control can be pressed, which also tests how
 * pages handle rejections.
 *
 * Problems are collected and reported together: a walk that stops at the first one finds one per
 * hour.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { LaunchedBrowser } from '../browser.ts';
import type { CrowdedWorld } from '../crowded-world.ts';
import { isFullScale } from '../scale.ts';
import { addressesOf, pressAll, visitAll, type Address } from './console-walk.ts';

/** The views in `views.ts`, as patterns of their paths. */
async function readViews(): Promise<RegExp[]> {
  const source = await readFile(new URL('../../../console/src/views.ts', import.meta.url), 'utf8');
  const patterns = [...source.matchAll(/\[\s*\/\^(\S+)\$\/,/g)].map((match) => match[1] ?? '');
  assert.ok(patterns.length >= 20, `${patterns.length} views`);
  return patterns.map((pattern) => new RegExp(`^${pattern.replaceAll('\\/', '/')}$`));
}

const views = await readViews();
const viewOf = (path: string) => views.find((view) => view.test(path.split('?')[0] ?? ''));

/**
 * Adds the console tests for a world. Controls at every address are pressed only in the full run.
 */
export function addConsoleTests(world: CrowdedWorld, { browser, reason }: LaunchedBrowser): void {
  const options = browser === null ? { skip: reason } : { timeout: 540_000 };

  test('the walk knows an address of every view', options, () => {
    const known = new Set(addressesOf(world).map(({ path }) => viewOf(path)));
    assert.deepEqual(
      views.filter((view) => !known.has(view)),
      [],
    );
  });

  test('every view shows its crowd without a mistake, wide and narrow', options, async () => {
    assert.ok(browser !== null);
    const problems = await visitAll(
      { browser, world, width: 1_440, isLoadedAnew: isFullScale },
      addressesOf(world),
      async (page, watch) => {
        await watch.assertWell('as it was opened');
        await page.setViewportSize({ width: 390, height: 900 });
        await watch.settled();
        await watch.assertWell('on a phone');
        await page.setViewportSize({ width: 1_440, height: 900 });
      },
    );
    assert.deepEqual(problems, []);
  });

  if (isFullScale) {
    test('every view opens without a mistake on a phone', options, async () => {
      assert.ok(browser !== null);
      const problems = await visitAll(
        { browser, world, width: 390 },
        addressesOf(world),
        (_page, watch) => watch.assertWell('as it was opened'),
      );
      assert.deepEqual(problems, []);
    });
  }

  test(
    'every control may be pressed, also when the service refuses what it does',
    options,
    async () => {
      assert.ok(browser !== null);
      const all = addressesOf(world);
      const first = views.flatMap((view): Address[] => {
        const found = all.find(({ path }) => viewOf(path) === view);
        return found === undefined ? [] : [found];
      });
      let pressed = 0;
      const problems = await visitAll(
        { browser, world, width: 1_440 },
        isFullScale ? all : first,
        async (...visit) => {
          pressed += await pressAll(...visit);
        },
      );
      assert.deepEqual(problems, []);
      assert.ok(pressed > 50, `${pressed} controls`);
    },
  );
}
