/** Tests `reelfeed rebuild` as a process, alongside a running service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../../test/processes.ts';
import { query, createItems } from '../../test/seed.ts';
import { eventually, send, startService, toUrl } from '../../test/service.ts';

const service = await startService();
const env = { REELFEED_DATA_DIR: service.dataDir, DATABASE_URL: toUrl(service.connection) };
const reelfeed = (...args: string[]) => runCommand(['rebuild', ...args], { env });

test('rebuild recomputes the statistics while the service continues', async () => {
  const [contentId = ''] = await createItems(service, 1);
  const watch = async () => {
    const sent = await send(`${service.url}/v1/events/batch`, 'POST', {
      key: service.publishableKey,
      body: {
        events: Array.from({ length: 20 }, (_, number) => ({
          event: 'playStart',
          contentId,
          userId: `user ${number}`,
          data: { startupTime: 100 },
        })),
      },
    });
    assert.equal(sent.status, 200, sent.text);
  };
  const plays = async () => {
    const [row] = await query(
      service,
      `select plays from content_counter where grain = 'total' and content_id = $1`,
      [contentId],
    );
    return Number(row?.['plays'] ?? 0);
  };
  await watch();
  await eventually('the plays', async () => ((await plays()) === 20 ? true : null));
  await query(service, 'update content_counter set plays = 3');
  const { code, stdout, stderr } = await reelfeed('all');
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^Rebuilt: metrics, engagement, quality, retention, links, reactions, realtime, journeys, live, feed-viewers, feed-items\n$/,
  );
  assert.match(stderr, /engagement: 100 % of 20 events/);
  assert.equal(await plays(), 20);
  await watch();
  await eventually('the plays', async () => ((await plays()) === 40 ? true : null));
  const one = await reelfeed('quality', '--json');
  assert.deepEqual(JSON.parse(one.stdout), { rebuilt: ['quality'] });
});

test('rebuild lists the available projections when asked for an unknown one', async () => {
  for (const args of [[], ['nothing']]) {
    const { code, stderr } = await reelfeed(...args);
    assert.equal(code, 2);
    assert.match(
      stderr,
      /^Usage: reelfeed rebuild metrics\|engagement\|quality\|retention\|links\|reactions\|realtime\|journeys\|live\|feed-viewers\|feed-items\|all/,
    );
  }
});
