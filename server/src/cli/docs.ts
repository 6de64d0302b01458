/** `npm run docs`: writes the generated parts of the documentation between their markers. */
import { readFile, writeFile } from 'node:fs/promises';
import { describeSettings } from '../platform/config.ts';
import type { Command } from './command.ts';

const readme = new URL('../../../README.md', import.meta.url);
const section = /(<!-- settings: .*? -->\n)[\s\S]*?(\n<!-- \/settings -->)/;

/** The README with the table of settings as the code has it now. */
export function withSettings(text: string): string {
  if (!section.test(text)) throw new Error('README.md has no markers for the table of settings.');
  return text.replace(
    section,
    (_all, before: string, after: string) => before + describeSettings() + after,
  );
}

export const docs: Command = async () => {
  await writeFile(readme, withSettings(await readFile(readme, 'utf8')));
};
