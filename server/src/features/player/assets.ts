import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file of the page as it goes over the wire. */
export interface Asset {
  readonly contentType: string;
  readonly body: Buffer;
}

export interface PlayerAssets {
  /** Changes when any file changes; part of every asset's address, so that all may be cached for ever. */
  readonly version: string;
  /** By path below `/feed/assets/<version>/`, such as `page/main.js`. */
  readonly files: ReadonlyMap<string, Asset>;
  /** The page itself, with `{{assets}}` and `{{key}}` left to fill. */
  readonly html: string;
}

const javascript = 'text/javascript; charset=utf-8';

/**
 * Reads, strips and links the browser's modules once, at boot. Only modules that `page/main.ts`
 * reaches are served, so tests and server code cannot leak by lying in the same folder.
 * Throws when a module imports something that a browser could not load.
 */
export function loadPlayerAssets(): PlayerAssets {
  const files = new Map<string, Asset>();
  addModule(files, new URL('./page/main.ts', import.meta.url));
  for (const sheet of ['player', 'slide', 'screens', 'wide']) {
    addFile(files, `page/${sheet}.css`, `./page/${sheet}.css`, 'text/css; charset=utf-8');
  }
  addFile(files, 'page/icon.svg', './page/icon.svg', 'image/svg+xml');
  files.set('vendor/hls.js', { contentType: javascript, body: readHlsLibrary() });
  return {
    version: hashFiles(files),
    files,
    html: readFileSync(new URL('./page/index.html', import.meta.url), 'utf8'),
  };
}

/** The build without DRM and alternate audio, which is all that the service's own playlists use. */
function readHlsLibrary(): Buffer {
  const source = readFileSync(
    new URL(import.meta.resolve('hls.js/dist/hls.light.min.mjs')),
    'utf8',
  );
  // The map is not served, and developer tools would ask for it.
  return Buffer.from(source.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'));
}

/** Adds the module at `url` and, depth first, all that it imports. */
function addModule(files: Map<string, Asset>, url: URL): void {
  const name = servedName(url);
  if (files.has(name)) return;
  const javascriptSource = stripTypeScriptTypes(readFileSync(url, 'utf8'));
  const imported: URL[] = [];
  const linked = javascriptSource.replace(
    /(\bfrom\s*|\bimport\s*\(\s*)'([^'\n]+)'/g,
    (_match, before: string, specifier: string) => {
      if (specifier === 'hls.js') return `${before}'../vendor/hls.js'`;
      const target = resolveSpecifier(specifier, url);
      imported.push(target);
      return `${before}'../${servedName(target)}'`;
    },
  );
  files.set(name, { contentType: javascript, body: Buffer.from(linked) });
  for (const target of imported) addModule(files, target);
}

function resolveSpecifier(specifier: string, from: URL): URL {
  if (specifier === '@reelfeed/client') return new URL(import.meta.resolve(specifier));
  if (specifier.startsWith('./') && specifier.endsWith('.ts')) return new URL(specifier, from);
  throw new Error(`${basename(fileURLToPath(from))} imports "${specifier}", which is not served.`);
}

/** Page modules and client modules live in one flat folder each: `page/feed.js`, `client/feed.js`. */
function servedName(url: URL): string {
  const folder = url.href.startsWith(new URL('./page/', import.meta.url).href) ? 'page' : 'client';
  return `${folder}/${basename(url.pathname).replace(/\.ts$/, '.js')}`;
}

function addFile(
  files: Map<string, Asset>,
  name: string,
  relativePath: string,
  contentType: string,
): void {
  files.set(name, { contentType, body: readFileSync(new URL(relativePath, import.meta.url)) });
}

function hashFiles(files: ReadonlyMap<string, Asset>): string {
  const hash = createHash('sha256');
  for (const [name, asset] of files)
    hash.update(`${name}\0${asset.body.length}\0`).update(asset.body);
  return hash.digest('base64url').slice(0, 16);
}
