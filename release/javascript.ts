/**
 * Compiles the TypeScript of this repository to JavaScript: Node does not strip types in packages
 * under `node_modules`.
 */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { globSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';

/** Files that only tests need. */
const left = /\.(test|fixture)\.ts$|conformance|\/testing(\.ts$|\/)/;

/**
 * Copies a folder and converts its TypeScript to JavaScript. Types are replaced by spaces, so
 * errors report the lines and columns of the source.
 */
export async function copyAsJavaScript(source: string, target: string): Promise<void> {
  for (const name of globSync('**/*', { cwd: source, withFileTypes: true })) {
    if (!name.isFile()) continue;
    const file = path.join(name.parentPath, name.name);
    const relative = path.relative(source, file);
    if (left.test(relative)) continue;
    const to = path.join(target, relative.replace(/\.ts$/, '.js'));
    await mkdir(path.dirname(to), { recursive: true });
    if (relative.endsWith('.ts')) await writeFile(to, toJavaScript(await readFile(file, 'utf8')));
    else await cp(file, to);
  }
}

/** @throws SyntaxError if the text contains more than erasable types, such as an enum */
export function toJavaScript(text: string): string {
  return nameJavaScript(stripTypeScriptTypes(text, { mode: 'strip' }));
}

/**
 * Rewrites `.ts` to `.js` in quoted relative paths, which name modules, workers and child
 * processes.
 */
export function nameJavaScript(text: string): string {
  return text.replaceAll(/(['"])((?:\.{1,2}\/)?[\w@./-]*[\w-])\.ts\1/g, '$1$2.js$1');
}

/** Empties a folder, or creates it. */
export async function emptyFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
}
