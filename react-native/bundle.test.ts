/** The app and the package pass type checks, and Metro bundles them for both platforms. */
import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from '../server/test/service.ts';
import { runInExample, whyNotInstalled } from './example.fixture.ts';

const options = whyNotInstalled === null ? { timeout: 800_000 } : { skip: whyNotInstalled };

test('app and package are typed', options, async () => {
  await runInExample('tsc', ['--noEmit']);
  const at = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  const compiler = at('../node_modules/typescript/bin/tsc');
  const args = [compiler, '--noEmit', '-p', at('tsconfig.native.json')];
  await promisify(execFile)(process.execPath, args).catch((error: { stdout?: string }) =>
    assert.fail(error.stdout ?? 'The compiler has failed.'),
  );
});

test('Metro bundles it for iOS and Android', options, async () => {
  const folder = await temporaryFolder();
  const platforms = ['-p', 'ios', '-p', 'android', '--no-bytecode'];
  await runInExample('expo', ['export', ...platforms, '--output-dir', folder], {
    EXPO_PUBLIC_REELFEED_KEY: 'rf_pk_example',
  });
  for (const platform of ['ios', 'android']) {
    const place = path.join(folder, '_expo/static/js', platform);
    const [name = ''] = await readdir(place);
    const bundle = await readFile(path.join(place, name), 'utf8');
    assert.match(bundle, /v1\/events\/batch/, platform);
    assert.match(bundle, /VideoPlayer/, platform);
  }
});
