/** `npm run docs`: writes the generated parts of the documentation between their markers. */
import { readFile, writeFile } from 'node:fs/promises';
import { describeEventKinds } from '../features/events/events.ts';
import { settings } from '../app/config.ts';
import { describeSettings } from '../platform/settings.ts';
import type { Command } from './command.ts';

/** A part of a document that is made from the code, between `<!-- name: … -->` and `<!-- /name -->`. */
export type GeneratedPart = {
  readonly file: URL;
  readonly name: string;
  readonly generate: () => string;
};

export const generatedParts: readonly GeneratedPart[] = [
  {
    file: new URL('../../../README.md', import.meta.url),
    name: 'settings',
    generate: () => describeSettings(settings),
  },
  {
    file: new URL('../../../docs/events.md', import.meta.url),
    name: 'event kinds',
    generate: describeEventKinds,
  },
];

/** The document with the part as the code has it now. */
export function withPart(text: string, { name, generate }: Omit<GeneratedPart, 'file'>): string {
  const part = new RegExp(`(<!-- ${name}: .*? -->\\n)[\\s\\S]*?(<!-- /${name} -->)`);
  if (!part.test(text)) throw new Error(`There are no markers for the part "${name}".`);
  return text.replace(
    part,
    (_all, before: string, after: string) => `${before}${generate()}\n${after}`,
  );
}

export const docs: Command = async () => {
  for (const part of generatedParts) {
    await writeFile(part.file, withPart(await readFile(part.file, 'utf8'), part));
  }
};
