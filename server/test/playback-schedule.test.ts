/**
 * Proves that schedules, visibility and publication take effect within a second in playback and
 * lists, on two processes polled ten times per second.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { local, readyItem } from './media.ts';
import { startService, type TestService } from './service.ts';
import { pause } from './waiting.ts';

const service = await startService({});
const second = await startService({ REELFEED_ROLES: 'api' }, { beside: service });
const processes = [service, second];
const intervalMs = 100;
const maxDelayMs = 1_000;

const patch = async (id: string, body: object) => {
  const reply = await service.call('PATCH', `/v1/content/${id}`, { body });
  assert.equal(reply.status, 200, reply.text);
};

const item = await readyItem(service, 'small.mp4', { protected: true, section: 'timed' });

const sign = (from: TestService) =>
  from.call('POST', `/v1/content/${item.id}/playback-token`, { key: from.publishableKey });

test('a viewer can play a protected item from publishAt to expiresAt, and no longer', async () => {
  const publishAt = Date.now() + 3_000;
  const expiresAt = publishAt + 3_000;
  const iso = (ms: number) => new Date(ms).toISOString();
  await patch(item.id, { publishAt: iso(publishAt), expiresAt: iso(expiresAt) });
  const watch = async (from: TestService) => {
    const seen = { before: 0, during: 0, after: 0 };
    let playing: string | null = null;
    while (seen.after < 5) {
      const sentAt = Date.now();
      const token = await sign(from);
      const file: number = playing === null ? 0 : (await fetch(local(from, playing))).status;
      const answeredAt = Date.now();
      if (answeredAt < publishAt) {
        seen.before += 1;
        assert.equal(token.status, 404, `${publishAt - answeredAt} ms before publishAt`);
      }
      if (sentAt > publishAt + maxDelayMs && answeredAt < expiresAt) {
        seen.during += 1;
        assert.equal(token.status, 200, `${sentAt - publishAt} ms after publishAt`);
        if (playing !== null) assert.equal(file, 200);
        playing = token.body.data.streamingUrl;
        assert.equal(token.body.data.expiresAt, iso(expiresAt), 'it ends with the item');
      }
      if (sentAt > expiresAt + maxDelayMs) {
        seen.after += 1;
        assert.equal(token.status, 404, `${sentAt - expiresAt} ms after expiresAt`);
        assert.equal(file, 403, 'what was playing has ended');
      }
      await pause(intervalMs, 'between two looks');
    }
    assert.ok(seen.before > 0 && seen.during > 0, JSON.stringify(seen));
  };
  await Promise.all(processes.map(watch));
  await patch(item.id, { publishAt: null, expiresAt: null });
});

test('playback and lists of every process reflect each change within a second', async () => {
  const url = (await sign(service)).body.data.streamingUrl;
  const isListed = async (from: TestService, filter: string) => {
    const { body } = await from.call('GET', `/v1/content?section=timed&${filter}`);
    assert.equal(body.meta.total, body.data.length);
    return body.data.length === 1;
  };
  const isSigned = async (from: TestService) => (await sign(from)).status === 200;
  const isServed = async (from: TestService) => (await fetch(local(from, url))).status === 200;
  type Look = (from: TestService) => Promise<boolean>;
  const listed =
    (filter: string): Look =>
    (from) =>
      isListed(from, filter);
  const archive = () => service.call('DELETE', `/v1/content/${item.id}`);
  const restore = () => service.call('POST', `/v1/content/${item.id}/restore`);
  const change = (body: object) => () => patch(item.id, body);

  const steps: [name: string, change: () => Promise<unknown>, looks: [Look, boolean][]][] = [
    [
      'unpublished',
      change({ publishStatus: 'unpublished' }),
      [
        [isSigned, false],
        [listed('publishStatus=published'), false],
        [listed('publishStatus=unpublished'), true],
      ],
    ],
    [
      'published',
      change({ publishStatus: 'published' }),
      [
        [isSigned, true],
        [listed('publishStatus=published'), true],
      ],
    ],
    [
      'private',
      change({ visibility: 'private' }),
      [
        [isSigned, false],
        [listed('visibility=public'), false],
        [listed('visibility=private'), true],
      ],
    ],
    ['public', change({ visibility: 'public' }), [[isSigned, true]]],
    [
      'archived',
      archive,
      [
        [isSigned, false],
        [isServed, false],
        [listed('limit=10'), false],
        [listed('archived=only'), true],
      ],
    ],
    [
      'restored',
      restore,
      [
        [isServed, true],
        [isSigned, false],
        [listed('limit=10'), true],
      ],
    ],
  ];
  for (const [name, make, looks] of steps) {
    await make();
    const changedAt = performance.now();
    const settle = async (from: TestService, look: Look, wanted: boolean, index: number) => {
      while ((await look(from)) !== wanted) {
        const lateMs = performance.now() - changedAt - maxDelayMs;
        assert.ok(lateMs < 0, `${name}: look ${index} is ${Math.round(lateMs)} ms late`);
        await pause(intervalMs, 'between two looks');
      }
    };
    await Promise.all(
      processes.flatMap((from) =>
        looks.map(([look, wanted], index) => settle(from, look, wanted, index)),
      ),
    );
  }
});
