/** Sends the examples of docs/analytics.md verbatim. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { createReadyItems } from '../../../../test/seed.ts';
import { startService } from '../../../../test/service.ts';

const guide = await readFile(new URL('../../../../../docs/analytics.md', import.meta.url), 'utf8');

test('every example of the guide is answered', async () => {
  const service = await startService();
  const [contentId = ''] = await createReadyItems(service, 1);
  const examples = [
    ...guide.matchAll(/^curl "\$REELFEED(\S+)" -H "Authorization: Bearer \$SECRET_KEY"$/gm),
  ];
  assert.equal(examples.length, guide.match(/^curl /gm)?.length, 'all of them are understood');
  const reports = new Set<string | undefined>();
  for (const [, path = ''] of examples) {
    const { status, text } = await service.call('GET', path.replace('$CONTENT_ID', contentId));
    assert.equal(status, 200, `${path}: ${text}`);
    reports.add(/analytics\/([a-z]+(?:\/\$)?)/.exec(path)?.[1]);
  }
  assert.equal(reports.size, 6, 'each report has an example');
});
