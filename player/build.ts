/**
 * `npm run build -w player`: makes `dist/`, which is committed, served by the service, and published.
 *
 * - `reelfeed-feed.js`: the feed and the player of one item, complete but for hls.js and the menu.
 * - `reelfeed-shelf.js`: the shelf, which fetches the feed when a clip is chosen.
 * - `reelfeed-*.css`: their styles once more, for browsers in which a script can't make style sheets.
 * - `hls-<hash>.js`: hls.js without DRM and alternate audio; `reelfeed-menu-<hash>.js`: the menu. Both
 *   are fetched when they are needed.
 * - `react.js`, `vue.js`: components for these frameworks, which import the elements.
 * - `*.br`, `*.gz`: the same, compressed for those who serve them.
 * - `*.d.ts`: the types.
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build, transform, type BuildOptions, type Plugin } from 'esbuild';

/** Declarations that are published; those of the elements themselves are in `types.ts`. */
const publicTypes = ['types', 'texts', 'framework', 'react', 'vue'];

/** The oldest browsers that the element runs in. */
const target = ['safari15', 'chrome100'];

const at = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Styles and the template become strings without what only people need. */
const smallTexts: Plugin = {
  name: 'small texts',
  setup(setup) {
    setup.onLoad({ filter: /\/src\/styles\/[\w-]+\.css$/ }, async ({ path: file }) => {
      const css = await readFile(file, 'utf8');
      const { code } = await transform(css, { loader: 'css', minify: true, target });
      return { contents: code, loader: 'text' };
    });
    setup.onLoad({ filter: /\/src\/[\w-]+\.html$/ }, async ({ path: file }) => {
      const html = await readFile(file, 'utf8');
      return { contents: html.replaceAll(/\s+/g, ' ').replaceAll('> <', '><'), loader: 'text' };
    });
  },
};

const shared: BuildOptions = {
  absWorkingDir: at('.'),
  outdir: 'dist',
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target,
  legalComments: 'none',
  logLevel: 'silent',
};

/** The styles of each element, in the order in which it has them. */
const styles = {
  'reelfeed-feed': ['player', 'states', 'pictures', 'slide', 'menu', 'screens', 'wide', 'compact'],
  'reelfeed-shelf': ['shelf'],
};

/** Modules that an element loads on demand: the import specifier, and the name of the built file. */
const later = {
  'hls.js': ['hls.js/dist/hls.light.mjs', 'hls'],
  './menu.ts': ['src/menu/menu.ts', 'reelfeed-menu'],
} as const;

async function bundle(options: BuildOptions): Promise<[name: string, contents: Uint8Array][]> {
  const { outputFiles } = await build({ ...shared, ...options, write: false });
  return (outputFiles ?? []).map((file) => [path.basename(file.path), file.contents]);
}

/** Each is a file of its own instead of a shared chunk, which would cost an element one more request. */
function besideElements(names: ReadonlyMap<string, string>): Plugin {
  return {
    name: 'files beside the elements',
    setup(setup) {
      setup.onResolve({ filter: /./ }, ({ path: module, kind }) => {
        const name = kind === 'dynamic-import' ? names.get(module) : undefined;
        return name === undefined ? undefined : { path: `./${name}`, external: true };
      });
    },
  };
}

/** The scripts and styles of `dist`, by name. */
export async function bundlePlayer(): Promise<Map<string, Uint8Array>> {
  const files: [name: string, contents: Uint8Array][] = [];
  const names = new Map([
    ['./reelfeed-feed.ts', 'reelfeed-feed.js'],
    ['./reelfeed-shelf.ts', 'reelfeed-shelf.js'],
  ]);
  for (const [module, [entry, name]] of Object.entries(later)) {
    const made = await bundle({ entryPoints: [entry], entryNames: `${name}-[hash]` });
    names.set(module, made[0]?.[0] ?? '');
    files.push(...made);
  }
  const plugins = [smallTexts, besideElements(names)];
  for (const [element, sheets] of Object.entries(styles)) {
    files.push(...(await bundle({ entryPoints: [`src/${element}.ts`], plugins })));
    const contents = sheets.map((name) => `@import './src/styles/${name}.css';`).join('\n');
    const stdin = { contents, resolveDir: at('.'), loader: 'css' as const };
    files.push(...(await bundle({ stdin, entryNames: element })));
  }
  for (const framework of ['react', 'vue']) {
    const entryPoints = [`src/${framework}.ts`];
    files.push(...(await bundle({ entryPoints, external: [framework], plugins })));
  }
  return new Map(files);
}

async function writeDist(): Promise<void> {
  const dist = at('dist');
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist);
  for (const [name, contents] of await bundlePlayer()) {
    const file = path.join(dist, name);
    await writeFile(file, contents);
    await writeFile(`${file}.br`, brotliCompressSync(contents));
    await writeFile(`${file}.gz`, gzipSync(contents, { level: 9 }));
  }
  await copyFile(at('src/icon.svg'), path.join(dist, 'icon.svg'));
  await writeTypes(dist);
}

/** Declarations of what a page can do with the elements; everything else stays inside. */
async function writeTypes(dist: string): Promise<void> {
  const compiler = at('../node_modules/typescript/bin/tsc');
  const options = ['--emitDeclarationOnly', '--declaration', '--noEmit', 'false'];
  const made = path.join(dist, 'types');
  const project = ['-p', at('tsconfig.types.json'), '--outDir', made];
  await promisify(execFile)(process.execPath, [compiler, ...project, ...options]);
  for (const name of publicTypes) {
    // Declarations of packages name each other as they are at run time.
    const text = await readFile(path.join(made, `${name}.d.ts`), 'utf8');
    const renamed = text.replaceAll(/(from ')(\.[^']*)\.ts'/g, "$1$2.js'");
    await writeFile(path.join(dist, `${name}.d.ts`), renamed);
  }
  await rm(made, { recursive: true });
  for (const element of Object.keys(styles)) {
    await writeFile(path.join(dist, `${element}.d.ts`), "export * from './types.js';\n");
  }
}

if (import.meta.main) await writeDist();
