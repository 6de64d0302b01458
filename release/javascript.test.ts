/** Proves that the package contains only JavaScript that imports only JavaScript. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameJavaScript, toJavaScript } from './javascript.ts';

test('modules, workers and children are named as JavaScript, and other texts stay', () => {
  const texts: Record<string, string> = {
    "import { a } from './a.ts';": "import { a } from './a.js';",
    "import '../tables.ts';": "import '../tables.js';",
    "new URL('boundary-worker.ts', import.meta.url)":
      "new URL('boundary-worker.js', import.meta.url)",
    "await import('./backup/backup.ts')": "await import('./backup/backup.js')",
    "'video/mp2t', 'seg.tsx'": "'video/mp2t', 'seg.tsx'",
    '// See `queue.ts`.': '// See `queue.ts`.',
  };
  for (const [given, wanted] of Object.entries(texts)) assert.equal(nameJavaScript(given), wanted);
});

test('types are removed, lines and columns stay', () => {
  const text = "type A = {\n  b: string;\n};\nexport const c: A = { b: 'x' } satisfies A;\n";
  const stripped = toJavaScript(text);
  assert.equal(stripped.split('\n').length, text.split('\n').length);
  assert.equal(stripped.indexOf('= {', 20), text.lastIndexOf('= {'));
  assert.throws(() => toJavaScript('enum A { b }'));
});
