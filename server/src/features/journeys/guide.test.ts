/** Sends the examples of docs/journeys.md verbatim. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { startService } from '../../../test/service.ts';

const guide = await readFile(new URL('../../../../docs/journeys.md', import.meta.url), 'utf8');

test('every example of the guide is answered', async () => {
  const service = await startService();
  const examples = [...guide.matchAll(/^curl "\$REELFEED(\S+)" .*\\\n {2}-d '(.*)'$/gm)];
  assert.equal(examples.length, guide.match(/^curl /gm)?.length, 'all of them are understood');
  for (const [, path = '', body = ''] of examples) {
    const { status, text } = await service.call('POST', path, { body: JSON.parse(body) as object });
    assert.equal(status, 200, `${path}: ${text}`);
  }
  assert.equal(examples.length, 4);
});
