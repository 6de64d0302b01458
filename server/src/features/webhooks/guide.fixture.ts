/** The guide and its code examples. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

export const guide = await readFile(
  new URL('../../../../docs/webhooks.md', import.meta.url),
  'utf8',
);

export function example(name: string): string {
  const found = new RegExp(`<!-- example: ${name} -->\n\`\`\`js\n([^]*?)\`\`\``).exec(guide);
  assert.ok(found?.[1] !== undefined, `the guide has an example named ${name}`);
  return found[1];
}
