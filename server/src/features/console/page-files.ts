/** The console's built files from `console/dist`, read once. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compressedOnce, type BuiltFile } from '../../platform/http/built-file.ts';

export type ConsolePage = { readonly html: string; readonly files: ReadonlyMap<string, BuiltFile> };

const contentTypes: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const folder = fileURLToPath(new URL('../../../../console/dist/', import.meta.url));
let page: ConsolePage | undefined;

/** Reads on the first request, so that start-up is not delayed. */
export function consolePage(): ConsolePage {
  page ??= readPage();
  return page;
}

function readPage(): ConsolePage {
  const files = new Map<string, BuiltFile>();
  for (const name of globSync('assets/*', { cwd: folder })) {
    const body = readFileSync(path.join(folder, name));
    const contentType = contentTypes[path.extname(name)] ?? 'application/octet-stream';
    files.set(path.basename(name), compressedOnce(contentType, body));
  }
  return { html: readFileSync(path.join(folder, 'index.html'), 'utf8'), files };
}
