/** Finds the project's files that a file loads, by following its relative imports. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const specifier = /(?:from|import)\s*\(?\s*'(\.[^']+\.ts)'|new URL\('(\.[^']+\.ts)', import/g;

export function loadedBy(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file) || !existsSync(file)) return seen;
  seen.add(file);
  for (const [, imported, worker] of readFileSync(file, 'utf8').matchAll(specifier)) {
    loadedBy(path.join(path.dirname(file), imported ?? worker ?? ''), seen);
  }
  return seen;
}
