/**
 * Follows the "In the console" steps of each role's guide exactly as written, with their button,
 * field and page names.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { readyItem } from '../../../test/media.ts';
import { query } from '../../../test/seed.ts';
import { eventually } from '../../../test/service.ts';
import { startConsole, type ConsolePage } from '../../../test/console/console.ts';

type Step =
  | { readonly verb: 'open'; readonly name: string }
  | { readonly verb: 'press'; readonly name: string }
  | { readonly verb: 'see'; readonly name: string }
  | { readonly verb: 'choose'; readonly name: string; readonly field: string | null }
  | { readonly verb: 'write'; readonly text: string; readonly field: string };

const phrase =
  /\b(open|press|see|choose) \*\*(.+?)\*\*(?: in \*\*(.+?)\*\*)?|\bwrite `(.+?)` into \*\*(.+?)\*\*/gi;

/** The steps of a guide. Each bold name must belong to a step that is understood. */
function stepsOf(guide: string): Step[] {
  const file = new URL(`../../../../docs/${guide}.md`, import.meta.url);
  const [, section = ''] = /## In the console\n([^]*?)\n## /.exec(readFileSync(file, 'utf8')) ?? [];
  const steps = [...section.matchAll(phrase)].map(
    ([, verb = 'write', name = '', field = null, text = '', into = '']): Step => {
      const kind = verb.toLowerCase();
      if (kind === 'write') return { verb: 'write', text, field: into };
      if (kind === 'choose') return { verb: 'choose', name, field };
      assert.ok(kind === 'open' || kind === 'press' || kind === 'see', kind);
      return { verb: kind, name };
    },
  );
  const understood = [...section.matchAll(phrase)].join(' ').match(/\*\*.+?\*\*/g)?.length ?? 0;
  const written = section.match(/\*\*.+?\*\*/g)?.length ?? 0;
  assert.ok(written > 0, `${guide} has no steps`);
  assert.ok(understood >= written, `${guide}: a step is not understood`);
  return steps;
}

const started = await startConsole();
const { options } = started;
// Without a browser, every test in this file is skipped.
const { service, page, errors, start } = started.console as ConsolePage;

before(async () => {
  if (started.console === null) return;
  // Data that the commands of the guides leave behind.
  const { id } = await readyItem(service, 'small.mp4', {
    title: 'Monday in two minutes',
    section: 'News',
  });
  // The service changes an item until all its files are made, and each change is a new version.
  await eventually('all its files', async () => {
    const unfinished = `select from job where payload->>'contentId' = $1`;
    return (await query(service, unfinished, [id])).length === 0 ? true : null;
  });
  const body = { event: 'like', contentId: id, userId: 'ada' };
  const { status } = await service.call('POST', '/v1/events', { body });
  assert.equal(status, 200);
  await page.goto(service.consoleLink?.() ?? '');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});

async function follow(step: Step): Promise<void> {
  const field = (name: string) =>
    page.getByRole('textbox', { name }).or(page.getByRole('combobox', { name })).first();
  if (step.verb === 'open') {
    await page.getByRole('navigation').getByRole('link', { name: step.name, exact: true }).click();
    await page.getByRole('heading', { name: step.name, level: 1, exact: true }).waitFor();
  } else if (step.verb === 'press') {
    const { name } = step;
    const main = page.getByRole('main').or(page.getByRole('dialog'));
    await main
      .getByRole('button', { name, exact: true })
      .or(main.getByRole('link', { name, exact: true }))
      .last()
      .click();
  } else if (step.verb === 'see') {
    await page.getByText(step.name).filter({ visible: true }).first().waitFor();
  } else if (step.verb === 'write') {
    await field(step.field).fill(step.text);
  } else if (step.field === null) {
    await page.getByRole('tab', { name: step.name, exact: true }).click();
  } else {
    await field(step.field).click();
    await page.getByRole('option', { name: step.name, exact: true }).click();
  }
}

for (const guide of ['editor', 'analyst', 'app-developer', 'operator']) {
  test(`the steps in the console of the ${guide}'s guide can be followed`, options, async () => {
    await start();
    for (const step of stepsOf(guide)) {
      await follow(step).catch((error: unknown) => {
        throw new Error(`${guide}: ${JSON.stringify(step)}`, { cause: error });
      });
    }
    assert.deepEqual(errors, []);
  });
}
