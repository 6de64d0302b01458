/** Builds the package `reelfeed` as a folder that `npm pack` turns into the published archive. */
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyAsJavaScript, emptyFolder, nameJavaScript } from './javascript.ts';

export const root = fileURLToPath(new URL('../', import.meta.url));

type Described = {
  version: string;
  license: string;
  dependencies: Record<string, string>;
  optionalDependencies?: Record<string, string>;
};

const describedIn = async <T = Described>(folder: string): Promise<T> =>
  JSON.parse(await readFile(path.join(root, folder, 'package.json'), 'utf8')) as T;

/** Copied unchanged; the pages must already be built. */
const asTheyAre = ['console/dist', 'player/dist', 'site/dist', 'server/migrations', 'deploy'];
const texts = ['LICENSE', 'CHANGELOG.md', 'SECURITY.md', 'README.md'];
const client = 'node_modules/@reelfeed/client';

/**
 * Writes the package into `folder`, which is emptied first. It keeps the layout of the repository,
 * so relative paths between its parts stay valid. The client library is bundled because it is a
 * workspace here.
 *
 * @param version overrides the version of the repository, for tests of updates
 * @returns the version
 */
export async function writePackage(folder: string, version?: string): Promise<string> {
  await emptyFolder(folder);
  const server = await describedIn('server');
  const written = version ?? server.version;
  const at = (name: string) => path.join(folder, name);
  await copyAsJavaScript(path.join(root, 'server/src'), at('server/src'));
  await copyAsJavaScript(path.join(root, 'client/src'), at(`${client}/src`));
  for (const name of asTheyAre) await cp(path.join(root, name), at(name), { recursive: true });
  for (const name of texts) await cp(path.join(root, name), at(name));
  await mkdir(at('server/bin'), { recursive: true });
  const launcher = await readFile(path.join(root, 'server/bin/reelfeed.js'), 'utf8');
  await writeFile(at('server/bin/reelfeed.js'), nameJavaScript(launcher), { mode: 0o755 });
  await writeJson(at('server/package.json'), {
    name: '@reelfeed/server',
    version: written,
    private: true,
    type: 'module',
  });
  const { exports } = await describedIn<{ exports: Record<string, string> }>('client');
  await writeJson(at(`${client}/package.json`), {
    name: '@reelfeed/client',
    version: written,
    license: server.license,
    type: 'module',
    exports: Object.fromEntries(
      Object.entries(exports).map(([name, source]) => [name, source.replace(/\.ts$/, '.js')]),
    ),
  });
  await writeJson(at('package.json'), {
    name: 'reelfeed',
    version: written,
    description: 'Self-hosted short-form video feed service',
    license: server.license,
    type: 'module',
    bin: { reelfeed: 'server/bin/reelfeed.js' },
    // The launcher also uses the Node of the `node` package if that is installed beside it.
    engines: { node: '>=20' },
    dependencies: { ...server.dependencies, '@reelfeed/client': written },
    optionalDependencies: server.optionalDependencies ?? {},
    bundleDependencies: ['@reelfeed/client'],
  });
  return written;
}

async function writeJson(file: string, value: unknown): Promise<void> {
  await writeFile(file, `${JSON.stringify(value, null, 2)}\n`);
}
