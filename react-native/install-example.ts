/**
 * Installs the example app, which is not a workspace because React Native and Expo are large,
 * together with the current builds of the client and this package. The first step of `npm run
 * test:native`.
 */
import { execFile } from 'node:child_process';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildClient } from '../client/build.ts';
import { buildReactNative } from './build.ts';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const example = at('example');

await buildClient(at('../client/dist'));
await buildReactNative(at('dist'));

// The installed lock file, so that a second run need not install again.
const mark = `${example}/node_modules/.installed`;
const wanted = await readFile(`${example}/package-lock.json`, 'utf8');
const installed = await readFile(mark, 'utf8').catch(() => null);
if (installed !== wanted) {
  await promisify(execFile)('npm', ['ci'], { cwd: example, maxBuffer: 16 * 2 ** 20 });
  await writeFile(mark, wanted);
}
for (const [name, dist] of [
  ['client', at('../client/dist')],
  ['react-native', at('dist')],
] as const) {
  const place = `${example}/node_modules/@reelfeed/${name}`;
  await rm(place, { recursive: true, force: true });
  await cp(dist, place, { recursive: true });
}
