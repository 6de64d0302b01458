/**
 * Keeps `dist` true: it records the hash of the sources that it was built from, and a test compares.
 * `npm run build -w console` builds and records.
 */
import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('./', import.meta.url));
/** The part of the client that the console consists of, its types aside. */
const clientSources = [
  'session',
  'abort',
  'admin',
  'errors',
  'request',
  'transport',
  'upload',
  'uuid7',
].map((name) => `../client/src/${name}.ts`);

const record = path.join(folder, 'dist/sources.sha256');

/** The hash of everything that the build reads, but for the packages that the lock file names. */
export function fingerprint(): string {
  const names = ['index.html', 'package.json', 'vite.config.ts', ...clientSources];
  const sources = [...names, ...globSync('src/**/*', { cwd: folder })]
    .filter((name) => path.extname(name) !== '' && !name.endsWith('.test.ts'))
    .toSorted((one, other) => (one < other ? -1 : 1));
  const hash = createHash('sha256');
  for (const name of sources) {
    hash
      .update(`${name}\0`)
      .update(readFileSync(path.join(folder, name)))
      .update('\0');
  }
  return hash.digest('hex');
}

/** The hash that `dist` was built from. */
export function recordedFingerprint(): string {
  return readFileSync(record, 'utf8').trim();
}

if (process.argv.includes('--write')) writeFileSync(record, `${fingerprint()}\n`);
