/**
 * `npm run build -w client`: builds `dist/`, the folder that is published. It contains ES modules
 * with their types and a package.json whose exports point to them; the package.json next to this
 * file points to the sources, which the other workspaces import.
 */
import { execFile } from 'node:child_process';
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Builds into `outDir`, which is emptied first. */
export async function buildClient(outDir: string): Promise<void> {
  await rm(outDir, { recursive: true, force: true });
  const compiler = fileURLToPath(new URL('../bin/tsc', import.meta.resolve('typescript')));
  const args = [compiler, '-p', at('tsconfig.build.json'), '--outDir', outDir];
  await promisify(execFile)(process.execPath, args).catch((error: { stdout?: string }) => {
    throw new Error(`The client does not compile:\n${error.stdout ?? ''}`, { cause: error });
  });
  const described: { exports: Record<string, string> } & Record<string, unknown> = JSON.parse(
    await readFile(at('package.json'), 'utf8'),
  );
  const {
    private: _private,
    devDependencies: _devDependencies,
    scripts: _scripts,
    ...rest
  } = described;
  const published = {
    ...rest,
    description: 'Client library of Reelfeed, the self-hosted short-form video feed service',
    engines: { node: '>=20' },
    sideEffects: false,
    exports: Object.fromEntries(
      Object.entries(described.exports).map(([name, source]) => [name, builtEntry(source)]),
    ),
  };
  await writeFile(`${outDir}/package.json`, `${JSON.stringify(published, null, 2)}\n`);
  await copyFile(at('README.md'), `${outDir}/README.md`);
  await copyFile(at('../LICENSE'), `${outDir}/LICENSE`);
}

function builtEntry(source: string): { types: string; default: string } {
  const name = source.replace('./src/', './').replace(/\.ts$/, '');
  return { types: `${name}.d.ts`, default: `${name}.js` };
}

if (import.meta.main) await buildClient(at('dist'));
