/** The player's files from `player/dist`, read once. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compressedOnce, type BuiltFile } from '../../platform/http/built-file.ts';

/** A file of the player. The hash identifies its content, so an address with it never changes. */
export type PlayerFile = BuiltFile & { readonly hash: string };

const javascript = 'text/javascript; charset=utf-8';
const css = 'text/css; charset=utf-8';
const folder = fileURLToPath(new URL('../../../../player/dist/', import.meta.url));
const element = 'reelfeed-feed.js';
let files: ReadonlyMap<string, PlayerFile> | undefined;

/** Files by name, such as `reelfeed-feed.js`. */
export function playerFiles(): ReadonlyMap<string, PlayerFile> {
  files ??= new Map([
    ...globSync('{hls,reelfeed}-*.{js,css}', { cwd: folder }).map(
      (name) => [name, readCompressed(name)] as const,
    ),
    ['icon.svg', readIcon()],
  ]);
  return files;
}

/** The page at `/feed`, with only the element. Its addresses are relative to its folder. */
export function feedPage(publishableKey: string): string {
  const all = playerFiles();
  const hls = [...all.keys()].find((name) => name.startsWith('hls-')) ?? '';
  const address = (name: string): string => `player/${name}?v=${all.get(name)?.hash ?? ''}`;
  const key = publishableKey === '' ? '' : ` key="${escapeAttribute(publishableKey)}"`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Reelfeed</title>
    <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
    <meta name="theme-color" content="#07080b" />
    <meta name="color-scheme" content="dark" />
    <link rel="icon" href="${address('icon.svg')}" type="image/svg+xml" />
    <link rel="modulepreload" href="player/${hls}" />
    <script type="module" src="${address(element)}"></script>
  </head>
  <body>
    <main><reelfeed-feed page${key}></reelfeed-feed></main>
    <noscript>The player needs JavaScript.</noscript>
  </body>
</html>
`;
}

function readCompressed(name: string): PlayerFile {
  const file = path.join(folder, name);
  const body = readFileSync(file);
  const compressed = { brotli: readFileSync(`${file}.br`), gzip: readFileSync(`${file}.gz`) };
  const contentType = name.endsWith('.css') ? css : javascript;
  return { contentType, body, ...compressed, hash: hashOf(body) };
}

function readIcon(): PlayerFile {
  const body = readFileSync(path.join(folder, 'icon.svg'));
  return { ...compressedOnce('image/svg+xml', body), hash: hashOf(body) };
}

function hashOf(body: Buffer): string {
  return createHash('sha256').update(body).digest('base64url').slice(0, 16);
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
