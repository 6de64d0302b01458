/**
 * What axe finds on a page of the console and in each dialog that its buttons open, at three widths, in
 * light and in dark. In `npm test` each page comes at one width and in one scheme, in turn.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { scaled } from '../../../test/scale.ts';
import { changeColors } from './console.fixture.ts';

type Scheme = 'light' | 'dark';
type Form = { width: number; schemes: readonly Scheme[] };
type Violation = { id: string; nodes: { target: string[]; failureSummary: string }[] };
type Axe = { run: (context: unknown, options: object) => Promise<{ violations: Violation[] }> };

const widths = [1_440, 768, 390];
const full = widths.map((width): Form => ({ width, schemes: ['light', 'dark'] }));

/** The forms in which one page is shown. */
const formsOf = (index: number): Form[] =>
  scaled<Form[]>(
    [
      {
        width: widths[index % widths.length] ?? 0,
        schemes: [index % 2 === 0 ? 'light' : 'dark'],
      },
    ],
    full,
  );

/** Buttons that ask before they do something: those of forms, and those that need an answer. */
const opens = /…$|^(?:New|Edit|Change|Rename|Remove|Delete|Revoke|Rotate|Replace|Stop|Withdraw) /;
/** These buttons open no dialog: saving the form asks for confirmation. */
const opensNothing = /^Remove (?:image|the guardrail|the condition|Step)/;

/** Loads axe into the page, where it stays until another page is loaded. */
export async function loadAxe(page: Page): Promise<void> {
  const axe = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));
  await page.evaluate(await readFile(axe, 'utf8'));
}

/** What axe finds in the page as it is. Only contrast can differ between the schemes. */
async function violations(page: Page, context: string, schemes: readonly Scheme[]) {
  const found: string[] = [];
  for (const [index, scheme] of schemes.entries()) {
    await changeColors(page, scheme);
    const options = index === 0 ? {} : { runOnly: ['color-contrast'] };
    const result = await page.evaluate(
      ([where, how]) =>
        (globalThis as unknown as { axe: Axe }).axe.run(where ?? document, how ?? {}),
      [context, options] as const,
    );
    for (const { id, nodes } of result.violations) {
      const told = nodes.map(({ target, failureSummary }) => [...target, failureSummary].join(' '));
      found.push(`${scheme} ${id}: ${told.join(', ')}`);
    }
  }
  return found;
}

/** What axe finds on the view that is open, the `index`th of its test, and in the dialogs of the view. */
export async function axeProblems(page: Page, index: number): Promise<string[]> {
  const found: string[] = [];
  for (const { width, schemes } of formsOf(index)) {
    await page.setViewportSize({ width, height: 900 });
    const note = (where: string, problems: readonly string[]) =>
      found.push(...problems.map((problem) => `at ${width}: ${where} ${problem}`));
    note('page', await violations(page, 'html', schemes));
    if (index === 0) {
      await page.keyboard.press('Control+K');
      await page.getByRole('dialog').waitFor();
      note('palette', await violations(page, '[role=dialog]', schemes));
      await closeDialog(page);
    }
    const names = await dialogButtons(page);
    for (const name of scaled(names.slice(0, 1), names)) {
      const isOpen = await openDialog(page, name);
      const problems = isOpen ? await violations(page, '[role=dialog]', schemes) : ['asks nothing'];
      note(`“${name}”`, problems);
      if (isOpen) await closeDialog(page);
    }
  }
  return found;
}

/** The names of the buttons that open a dialog; one of several that differ only by what they name. */
async function dialogButtons(page: Page): Promise<string[]> {
  const names = await page
    .locator('main button:visible:enabled')
    .evaluateAll((buttons) =>
      buttons.map((button) => button.getAttribute('aria-label') ?? button.textContent.trim()),
    );
  const kinds = new Map<string, string>();
  for (const name of names) {
    const [kind = ''] = name.endsWith('…') ? [name] : name.split(' ');
    const key = name.startsWith('New ') ? name : kind;
    if (opens.test(name) && !opensNothing.test(name) && !kinds.has(key)) kinds.set(key, name);
  }
  return [...kinds.values()];
}

/** Returns false if the button opens none, and so does at once what it should ask about. */
async function openDialog(page: Page, name: string): Promise<boolean> {
  await page.locator('main').getByRole('button', { name, exact: true }).first().click();
  const opened = page.getByRole('dialog').waitFor({ timeout: 20_000 });
  return opened.then(
    () => true,
    () => false,
  );
}

/** Closes it without what it asks for. */
async function closeDialog(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
}
