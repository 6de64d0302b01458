/**
 * `npm run build -w @reelfeed/react-native`: builds `dist/`, the published folder, as ES modules
 * with types. It needs neither React Native nor Expo, so it does not check the components against
 * their types; `npm run test:native` does.
 */
import { execFile } from 'node:child_process';
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Builds into `outDir`, which is emptied first. */
export async function buildReactNative(outDir: string): Promise<void> {
  await rm(outDir, { recursive: true, force: true });
  const compiler = at('../node_modules/typescript/bin/tsc');
  const args = [compiler, '-p', at('tsconfig.build.json'), '--outDir', outDir];
  await promisify(execFile)(process.execPath, args).catch((error: { stdout?: string }) => {
    throw new Error(`The package does not compile:\n${error.stdout ?? ''}`, { cause: error });
  });
  const described: Record<string, unknown> = JSON.parse(await readFile(at('package.json'), 'utf8'));
  const {
    private: _private,
    devDependencies: _devDependencies,
    scripts: _scripts,
    ...rest
  } = described;
  const published = {
    ...rest,
    description: 'A feed of short videos for React Native, over a Reelfeed service',
    sideEffects: false,
    exports: { '.': { types: './reelfeed.d.ts', default: './reelfeed.js' } },
  };
  await writeFile(`${outDir}/package.json`, `${JSON.stringify(published, null, 2)}\n`);
  await copyFile(at('README.md'), `${outDir}/README.md`);
  await copyFile(at('../LICENSE'), `${outDir}/LICENSE`);
}

if (import.meta.main) await buildReactNative(at('dist'));
