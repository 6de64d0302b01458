/**
 * Runs axe on a page of the console and on each dialog that its buttons open, at three widths, in
 * light and dark mode. In `npm test`, pages alternate between widths and schemes.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { scaled } from '../scale.ts';
import { changeColors } from './console.ts';

type Scheme = 'light' | 'dark';
type Form = { width: number; schemes: readonly Scheme[] };
type Violation = { id: string; nodes: { target: string[]; failureSummary: string }[] };
type Axe = { run: (context: unknown, options: object) => Promise<{ violations: Violation[] }> };

const widths = [1_440, 768, 390];
const full = widths.map((width): Form => ({ width, schemes: ['light', 'dark'] }));

/** The combinations of width and scheme for a page. */
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

/** Buttons that open a confirmation dialog or a form. */
const opens = /…$|^(?:New|Edit|Change|Rename|Remove|Delete|Revoke|Rotate|Replace|Stop|Withdraw) /;
/** These buttons open no dialog: saving the form asks for confirmation. */
const opensNothing = /^Remove (?:image|the guardrail|the condition|Step)/;

/** Loads axe into the page until another page is loaded. */
export async function loadAxe(page: Page): Promise<void> {
  const axe = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));
  await page.evaluate(await readFile(axe, 'utf8'));
}

/** Violations that axe finds in the current page. Only contrast can differ between the schemes. */
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

/** Violations in the open view, the test's `index`th, and in its dialogs. */
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

/**
 * Names of buttons that open a dialog. Of several with the same action on different objects, only
 * the first is included.
 */
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

/** Returns false if no dialog opens, meaning that the action runs without confirmation. */
async function openDialog(page: Page, name: string): Promise<boolean> {
  await page.locator('main').getByRole('button', { name, exact: true }).first().click();
  const opened = page.getByRole('dialog').waitFor({ timeout: 20_000 });
  return opened.then(
    () => true,
    () => false,
  );
}

/** Closes the dialog without confirming. */
async function closeDialog(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
}
