/** Keeps `dist` true: it records the hash of what it was built from, and a test compares. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { sourceFiles } from './pages.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

export const record = fileURLToPath(new URL('./dist/sources.sha256', import.meta.url));

/** The hash of the guides and of the site's own sources, but not of the packages in the lock file. */
export function fingerprint(): string {
  const own = globSync(['site/*.ts', 'site/package.json', 'site/.vitepress/**/*.{ts,css}'], {
    cwd: root,
  });
  const hash = createHash('sha256');
  for (const name of [...sourceFiles(), ...own.toSorted(), 'docs/openapi.json']) {
    if (name.endsWith('.test.ts')) continue;
    hash
      .update(`${name}\0`)
      .update(readFileSync(path.join(root, name)))
      .update('\0');
  }
  return hash.digest('hex');
}
