/**
 * Collects the pages of the site in one flat folder: the guides, the README of the client, and the
 * decisions as one page. A link to a file that is no page leads to a copy of that file.
 */
import {
  copyFileSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPage } from './start-page.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const target = fileURLToPath(new URL('./pages/', import.meta.url));

/** The page that a file of the repository becomes, with the place in it, or null if it becomes none. */
function pageOf(file: string): string | null {
  if (file === 'docs/README.md') return 'index.md';
  if (file === 'client/README.md') return 'client.md';
  const decision = /^docs\/decisions(?:\/(\d+)[\w-]*\.md)?$/.exec(file);
  if (decision !== null) return decision[1] ? `decisions.md#d${decision[1]}` : 'decisions.md';
  return /^docs\/[\w-]+\.md$/.test(file) ? path.posix.basename(file) : null;
}

/** The files of the repository that pages are made from. */
export function sourceFiles(): string[] {
  return [...globSync(['docs/*.md', 'docs/decisions/*.md'], { cwd: root }), 'client/README.md']
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file !== 'docs/README.md')
    .toSorted();
}

export function writePages(): void {
  rmSync(target, { recursive: true, force: true });
  for (const copies of ['public/files', 'images']) {
    mkdirSync(path.join(target, copies), { recursive: true });
  }
  const decisions = ['# Decisions\n\nWhy things are as they are.\n'];
  for (const file of sourceFiles()) {
    const text = readFileSync(path.join(root, file), 'utf8').replaceAll(/<!--[^]*?-->\n?/g, '');
    const page = groupTabs(withLinks(text, file));
    if (file.startsWith('docs/decisions/')) decisions.push(asSection(page, file));
    else writeFileSync(path.join(target, pageOf(file) ?? ''), page);
  }
  writeFileSync(path.join(target, 'decisions.md'), decisions.join('\n'));
  writeFileSync(path.join(target, 'index.md'), startPage());
}

/** A decision as a section of the page that holds all of them. */
function asSection(text: string, file: string): string {
  const [number = ''] = /\d{4}/.exec(file) ?? [];
  return text
    .replaceAll(/^#{2,} (.+)$/gm, '**$1**')
    .replace(/^# (.+)$/m, (_all, title: string) => `## ${title} {#d${number}}`);
}

/** Points links and pictures at the pages and files of the site. */
function withLinks(text: string, file: string): string {
  return text.replaceAll(
    /(!?)\[([^\]]*)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)/g,
    (_all, mark: string, label: string, address: string, hash: string | undefined) => {
      const linked = path.posix.join(path.posix.dirname(file), address).replace(/\/$/, '');
      const page = pageOf(linked);
      if (page !== null) return `[${label}](${page}${hash ?? ''})`;
      if (statSync(path.join(root, linked)).isDirectory()) return `${label} (\`${linked}\`)`;
      const name = path.posix.basename(linked);
      const isPicture = mark === '!';
      const copies = isPicture ? 'images' : 'public/files';
      copyFileSync(path.join(root, linked), path.join(target, copies, name));
      return isPicture ? `![${label}](./images/${name})` : `[${label}](./files/${name})`;
    },
  );
}

const fence = /```\w+ \[[^\]]+\]\n[^]*?```\n/;

/** Blocks of code that follow each other and have a `[label]` become tabs. */
export function groupTabs(text: string): string {
  const run = new RegExp(`^(?:${fence.source}\\n?){2,}`, 'gm');
  return text.replaceAll(run, (blocks) => `::: code-group\n\n${blocks.trimEnd()}\n\n:::\n\n`);
}
