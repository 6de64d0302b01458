/**
 * Makes the built site work in any folder of any host: below the path of a reverse proxy, or published as
 * static files. VitePress knows absolute addresses alone. It builds with a base of its own, which is
 * replaced here: in pages by `./`, in scripts by the folder that the page's first script was loaded from.
 * All pages are in one folder.
 *
 * Scripts inside the pages move to that first script, so that a strict policy holds.
 */
import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export const base = '/__docs__/';

const findBase = `globalThis.docsBase = new URL('..', document.currentScript.src).pathname;`;

/** Links of the page are made absolute, since the router shows other pages under their addresses. */
const resolveLinks = `addEventListener('DOMContentLoaded', () => {
  for (const link of document.querySelectorAll('a[href]:not([href^="#"])')) link.setAttribute('href', link.href);
});`;

/** Links to the reference had their place behind the \`#\` of the start page. */
const keepOldLinks = `if (/^#(tag|description|model|api)[/-]/.test(location.hash) && /\\/(index\\.html)?$/.test(location.pathname)) location.replace('reference/' + location.hash);`;

export function makeRelative(folder: string): void {
  const inline = new Set<string>();
  const pages = globSync('*.html', { cwd: folder }).map((name) => path.join(folder, name));
  for (const page of pages) {
    for (const [, , text = ''] of readFileSync(page, 'utf8').matchAll(inlineScript))
      inline.add(text);
  }
  const boot = [findBase, keepOldLinks, ...inline, resolveLinks]
    .join('\n')
    .replaceAll(JSON.stringify(base), 'docsBase');
  const name = `assets/boot.${hashOf(boot)}.js`;
  writeFileSync(path.join(folder, name), boot);
  for (const page of pages) {
    const text = readFileSync(page, 'utf8')
      .replaceAll(inlineScript, '')
      .replace('<meta charset="utf-8">', `$&\n    <script src="./${name}"></script>`)
      .replaceAll(`"${base}`, '"./');
    write(page, text);
  }
  for (const script of globSync('assets/**/*.js', { cwd: folder })) {
    const file = path.join(folder, script);
    const text = readFileSync(file, 'utf8')
      .replaceAll(JSON.stringify(base), '(globalThis.docsBase)')
      // A picture has an address of its own.
      .replaceAll(`"${base}assets/`, '(globalThis.docsBase)+"assets/')
      // The site's data and the index of the search are JSON within a string.
      .replaceAll(
        /(__VP_SITE_DATA__=JSON\.parse\("(?:[^"\\]|\\.)*")/g,
        `$1.replaceAll(${stringOfBase}, globalThis.docsBase)`,
      )
      .replace(
        /(?<=^const \w+=.\{"documentCount"[^]*)export\s*\{\s*(\w+) as default\s*\}/,
        `const placed=$1.replaceAll(${stringOfBase}, globalThis.docsBase);export{placed as default}`,
      );
    writeFileSync(file, text);
  }
}

/** Written so that the first replacement does not find it. */
const stringOfBase = `"${base.slice(0, 2)}"+"${base.slice(2)}"`;

const inlineScript = /<script(?![^>]*\ssrc=)([^>]*)>([^]*?)<\/script>\n?\s*/g;

function write(file: string, text: string): void {
  if (text.includes(base)) throw new Error(`${file} has an absolute address left.`);
  writeFileSync(file, text);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 8).replaceAll('-', '_');
}
