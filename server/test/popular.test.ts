/** Proves that popular items get additional AV1 renditions at the same address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../src/platform/database/database.ts';
import { queuePopular } from '../src/features/processing/popular.ts';
import { atEnd, silentLog } from './database.ts';
import { fetchAll, readyItem } from './media.ts';
import { query } from './seed.ts';
import { eventually, startService } from './service.ts';

const service = await startService({});
const database = openDatabase({ connection: service.connection, poolSize: 2, log: silentLog });
atEnd(() => database[Symbol.asyncDispose]());
const minPlays = 1_000;

async function watched(id: string, plays: number): Promise<void> {
  await query(
    service,
    `insert into content_counter (organization_id, grain, period, content_id, plays)
     select organization_id, 'total', '1970-01-01', content_id, $2 from content
     where content_id = $1`,
    [id, plays],
  );
}

const jobs = (name: string) => query(service, 'select state from job where name = $1', [name]);

test('an item with enough plays gets AV1 besides H.264; one with fewer does not', async () => {
  const popular = await readyItem(service, 'hd-3s.mp4');
  const other = await readyItem(service, 'landscape.mp4');
  const small = await readyItem(service, 'portrait.mp4');
  await eventually('all renditions', async () =>
    (await query(service, 'select from media_ladder')).length === 3 ? true : null,
  );
  await watched(popular.id, minPlays);
  await watched(other.id, minPlays - 1);
  await watched(small.id, minPlays);
  const [before] = await fetchAll(service, popular.streamingUrl);
  assert.doesNotMatch(before?.reply.text ?? '', /av01/);
  await queuePopular(database.db, minPlays);
  await queuePopular(database.db, minPlays);
  assert.ok((await jobs('extend-popular')).length <= 2, 'each is queued once');
  await eventually(
    'the renditions in AV1',
    async () => {
      const open = await query(
        service,
        'select content_id from media_ladder where extended_at is null',
      );
      return open.length === 1 ? true : null;
    },
    180_000,
  );
  const files = await fetchAll(service, popular.streamingUrl);
  const master = files[0]?.reply.text ?? '';
  assert.deepEqual(master.match(/^\w+\/index\.m3u8$/gm), [
    '720/index.m3u8',
    '540/index.m3u8',
    '360/index.m3u8',
    '240/index.m3u8',
    'audio/index.m3u8',
    '720av1/index.m3u8',
    '540av1/index.m3u8',
  ]);
  assert.match(master, /CODECS="av01[^"]*,mp4a\.40\.2"\n720av1/);
  assert.ok(files.every(({ reply }) => reply.status === 200));
  const { previewUrl } = (await service.call('GET', `/v1/content/${popular.id}`)).body.data;
  assert.equal(previewUrl, popular.previewUrl ?? previewUrl);
  const [others] = await fetchAll(service, other.streamingUrl);
  assert.doesNotMatch(others?.reply.text ?? '', /av01/);
  await queuePopular(database.db, minPlays);
  assert.deepEqual(await jobs('extend-popular'), [], 'nothing is made twice');
});
