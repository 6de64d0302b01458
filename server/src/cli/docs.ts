/** `npm run docs`: writes the generated parts of the documentation between their markers. */
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { describeEventKinds } from '../features/events/events.ts';
import { describeDatasets } from '../features/exports/exports.ts';
import { errorKinds } from '../app/composition.ts';
import { settings } from '../app/config.ts';
import { features } from '../app/features.ts';
import { describeErrors } from '../platform/http/error-pages.ts';
import { describeSettings } from '../platform/settings/settings.ts';
import type { Command } from './command.ts';

/**
 * A part of a document that is generated from the code, between `<!-- name: … -->` and `<!-- /name
 * -->`.
 */
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
  {
    file: new URL('../../../docs/exports.md', import.meta.url),
    name: 'columns of exports',
    generate: describeDatasets,
  },
  {
    file: new URL('../../../docs/troubleshooting.md', import.meta.url),
    name: 'error codes',
    generate: () => describeErrors(errorKinds(features.list)),
  },
  {
    file: new URL('../../../docs/apps.md', import.meta.url),
    name: 'examples',
    generate: describeExamples,
  },
];

/** The programs of `docs/examples` as labelled code blocks, which the site shows as tabs. */
function describeExamples(): string {
  const programs = [
    ['feed.ts', 'ts [TypeScript]'],
    ['feed.py', 'python [Python]'],
    ['Feed.kt', 'kotlin [Kotlin]'],
    ['Feed.swift', 'swift [Swift]'],
  ] as const;
  const read = (name: string) =>
    readFileSync(new URL(`../../../docs/examples/${name}`, import.meta.url), 'utf8');
  const blocks = programs.map(([name, info]) => `\`\`\`${info}\n${read(name)}\`\`\`\n`);
  return blocks.join('\n');
}

/** The document with this part regenerated. */
export function withPart(text: string, { name, generate }: Omit<GeneratedPart, 'file'>): string {
  const part = new RegExp(`(<!-- ${name}: .*? -->\\n)[\\s\\S]*?(<!-- /${name} -->)`);
  if (!part.test(text)) throw new Error(`The document has no markers for the part "${name}".`);
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
