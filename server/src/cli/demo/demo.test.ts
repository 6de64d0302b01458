/** Tests the demo as a user runs it: clips, viewers, reports, stopping, and a second start. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onlyInFullRuns } from '../../../test/scale.ts';
import { ready, startCommand } from '../../../test/processes.ts';
import { eventually, send, temporaryFolder } from '../../../test/service.ts';

const env = {
  PORT: '0',
  REELFEED_DATA_DIR: await temporaryFolder(),
  REELFEED_MIN_FREE_BYTES: '0',
  REELFEED_LOG_LEVEL: 'info',
  REELFEED_MEDIA_NICENESS: '0',
  // Enough for reports by rendition. The tall clip at 1080 would take longer than all others
  // together.
  REELFEED_MEDIA_RENDITIONS: '240,360,540',
};

type Demo = {
  /** Waits for the message that the visits of the last day have been sent. */
  lastDay: () => Promise<void>;
  get: (path: string) => Promise<any>; // oxlint-disable-line typescript/no-explicit-any -- reports of every shape
  /** Number of events of a kind that this start stored, or detected as duplicates. */
  counted: (kind: string, outcome: 'stored' | 'duplicate') => Promise<number>;
  stop: () => Promise<void>;
};

async function startDemo(): Promise<Demo> {
  const running = startCommand(['demo'], { env });
  const url = await ready(running);
  const key = await eventually('the secret key', async () => {
    return /Secret key +(rf_sk_\S+)/.exec(running.output.stdout)?.[1] ?? null;
  });
  const metrics = async () => (await send(`${url}/metrics`, 'GET')).text;
  return {
    async lastDay() {
      await eventually(
        'the last day of the viewers',
        async () => {
          assert.equal(running.child.exitCode, null, running.output.stdout + running.output.stderr);
          return /last day is in the reports/.test(running.output.stdout) ? true : null;
        },
        240_000,
      );
    },
    async get(path) {
      const answer = await send(`${url}${path}`, 'GET', { key });
      assert.equal(answer.status, 200, answer.text);
      return answer.body.data;
    },
    async counted(kind, outcome) {
      const line = new RegExp(
        `^events_total\\{event="${kind}",outcome="${outcome}"\\} (\\d+)`,
        'm',
      );
      return Number(line.exec(await metrics())?.[1] ?? 0);
    },
    async stop() {
      running.child.kill('SIGTERM');
      const { code, stderr } = await running.ended;
      assert.equal(code, 0, stderr);
      assert.doesNotMatch(stderr, /"level":"error"|of the demo"/);
      for (const line of stderr.trim().split('\n')) if (line !== '') JSON.parse(line);
    },
  };
}

const views = { count: 0 };

test('the demo fills its reports: a day of visits at once, and more as time goes by', async () => {
  const { lastDay, get, counted, stop } = await startDemo();
  await lastDay();
  // Reports include an event within a second.
  const overview = await eventually('the reports', async () => {
    const report = await get('/v1/analytics/overview?granularity=hour');
    return report.summary.plays > 6_000 && report.summary.uniqueViewers >= 50 ? report : null;
  });
  const { summary, timeseries } = overview;
  for (const metric of ['completions', 'likes', 'shares', 'saves', 'sessions', 'totalWatchTime']) {
    assert.ok(summary[metric] > 0, metric);
  }
  assert.ok(summary.completionRate > 0.2 && summary.completionRate < 0.8, summary.completionRate);
  const hours = timeseries.filter(({ plays }: { plays: number }) => plays > 0);
  assert.ok(hours.length >= 24, `${hours.length} hours`);

  const [{ contentId }] = await get('/v1/analytics/content?limit=1');
  const item = await get(`/v1/analytics/content/${contentId}`);
  assert.ok(item.summary.plays > 100);
  assert.deepEqual(
    new Set(item.devices.map(({ device }: { device: string }) => device)),
    new Set(['ios', 'android', 'web']),
  );
  assert.ok(item.engagement.dropoffPoints.at(-1).retained < 0.9);
  await eventually('its views in the feed', async () => {
    const shown = (await get('/v1/feed')).find(({ id }: { id: string }) => id === contentId);
    return shown.engagement.views >= item.summary.plays ? true : null;
  });

  const engagement = await get('/v1/analytics/engagement?segment=tag');
  assert.ok(engagement.summary.averageVideosPerSession > 2);
  assert.ok(engagement.summary.averageSessionLength > 10);
  assert.ok(engagement.segments.length > 5);
  const quality = await get('/v1/analytics/quality');
  assert.ok(quality.summary.startupTime.p50 > 50 && quality.summary.rebufferRatio > 0);
  assert.ok(quality.errors.length > 0 && quality.renditions.length >= 3);

  const experiments = await eventually('an experiment to end', async () => {
    const all = await get('/v1/experiments');
    return all.some(({ status }: { status: string }) => status === 'stopped') ? all : null;
  });
  assert.deepEqual(experiments.map(({ status }: { status: string }) => status).toSorted(), [
    'running',
    'running',
    'stopped',
  ]);
  for (const { id, status } of experiments) {
    const { variants } = await get(`/v1/experiments/${id}/results`);
    assert.equal(variants.length, 2);
    if (status !== 'stopped') continue;
    assert.ok(variants[0].participants + variants[1].participants >= 50, JSON.stringify(variants));
  }

  await eventually('an alert, a metric and an export', async () => {
    const lists = ['/v1/analytics/alerts', '/v1/metrics', '/v1/exports'].map(get);
    return (await Promise.all(lists)).every(({ length }) => length > 0) ? true : null;
  });

  const byId = (externalId: string) =>
    eventually(externalId, async () => {
      const [found] = await get(`/v1/content?externalId=${externalId}`);
      return found ?? null;
    });
  const { images, autoScrollInterval } = await byId('demo-three-skies');
  assert.deepEqual([images.length, autoScrollInterval], [3, 4]);
  const { captionTracks } = await eventually('captions', async () => {
    const item = await byId('demo-counting-in-squares');
    return item.captionTracks.length === 2 ? item : null;
  });
  assert.deepEqual(
    captionTracks.map(({ language }: { language: string }) => language),
    ['en', 'de'],
  );
  const carousel = await byId('demo-a-day-outside');
  assert.equal((await get(`/v1/content/${carousel.id}/videos`)).length, 3);
  const front = await eventually('the carousels near the front', async () => {
    const shown = await get('/v1/feed?limit=4');
    const types = shown.map(({ contentType }: { contentType: string }) => contentType);
    return types[1] === 'video_carousel' && types[3] === 'carousel' ? shown : null;
  });
  const [first, row] = front;
  // A player that continues from the first clip has not seen the members yet.
  assert.ok(row.videos.some(({ id }: { id: string }) => id !== first.id));
  assert.equal((await byId('demo-warm-evening')).streamingUrl, '', 'protected');

  const before = await counted('impression', 'stored');
  await eventually('somebody to watch on', async () =>
    (await counted('impression', 'stored')) >= before + 5 ? true : null,
  );
  views.count = (await get('/v1/analytics/overview')).summary.plays;
  await stop();
});

test(
  'a second start counts nothing of the past again, and its viewers go on',
  onlyInFullRuns,
  async () => {
    const { lastDay, get, counted, stop } = await startDemo();
    await lastDay();
    assert.ok((await counted('playStart', 'duplicate')) > 6_000);
    await eventually('somebody to watch', async () =>
      (await counted('playStart', 'stored')) > 0 ? true : null,
    );
    const { plays } = (await get('/v1/analytics/overview')).summary;
    assert.ok(plays >= views.count && plays < views.count * 1.05, `${plays} of ${views.count}`);
    await stop();
  },
);
