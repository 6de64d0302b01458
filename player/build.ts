/**
 * `npm run build -w player`: makes `dist/`, which is committed, served by the service, and published.
 *
 * - `reelfeed-feed.js`: the element, complete but for hls.js.
 * - `reelfeed-feed.css`: its styles once more, for browsers in which a script can't make style sheets.
 * - `hls-<hash>.js`: hls.js without DRM and alternate audio, fetched by the element.
 * - `*.br`, `*.gz`: all three, compressed for those who serve them.
 * - `reelfeed-feed.d.ts`: the types.
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build, transform, type BuildOptions, type Plugin } from 'esbuild';

/** The oldest browsers that the element runs in. */
const target = ['safari15', 'chrome100'];

const at = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Styles and the template become strings without what only people need. */
const smallTexts: Plugin = {
  name: 'small texts',
  setup(setup) {
    setup.onLoad({ filter: /\/src\/[\w-]+\.css$/ }, async ({ path: file }) => {
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

/** The styles of the element, in the order in which it has them. */
const styles = ['player', 'slide', 'screens', 'wide'].map((name) => `@import './src/${name}.css';`);

/** The scripts and styles of `dist`, by name. */
export async function bundlePlayer(): Promise<Map<string, Uint8Array>> {
  const { outputFiles: hls } = await build({
    ...shared,
    write: false,
    entryPoints: ['hls.js/dist/hls.light.mjs'],
    entryNames: 'hls-[hash]',
  });
  const hlsName = path.basename(hls[0]?.path ?? '');
  // A file of its own instead of a shared chunk, which would cost the element one more request.
  const besideElement: Plugin = {
    name: 'hls.js beside the element',
    setup(setup) {
      setup.onResolve({ filter: /^hls\.js$/ }, () => ({ path: `./${hlsName}`, external: true }));
    },
  };
  const { outputFiles: element } = await build({
    ...shared,
    write: false,
    entryPoints: ['src/reelfeed-feed.ts'],
    plugins: [smallTexts, besideElement],
  });
  const { outputFiles: css } = await build({
    ...shared,
    write: false,
    stdin: { contents: styles.join('\n'), resolveDir: at('.'), loader: 'css' },
    entryNames: 'reelfeed-feed',
  });
  return new Map(
    [...hls, ...element, ...css].map((file) => [path.basename(file.path), file.contents]),
  );
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

/** Declarations of what a page can do with the element; everything else stays inside. */
async function writeTypes(dist: string): Promise<void> {
  const compiler = at('../node_modules/typescript/bin/tsc');
  const options = ['--emitDeclarationOnly', '--declaration', '--noEmit', 'false'];
  const project = ['-p', at('tsconfig.types.json'), '--outDir', dist];
  await promisify(execFile)(process.execPath, [compiler, ...project, ...options]);
  await rename(path.join(dist, 'types.d.ts'), path.join(dist, 'reelfeed-feed.d.ts'));
}

if (import.meta.main) await writeDist();
