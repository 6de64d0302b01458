/** Proves that a file's audio and subtitle tracks are in its item's playlist. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { generateClip } from '../src/features/media/media.ts';
import { addTracks } from '../src/features/media/testing/tracks-file.ts';
import { mediaSample } from './media-samples.ts';
import { fetchAll, form, settledItem } from './media.ts';
import { eventually, startService, temporaryFolder } from './service.ts';

const service = await startService({});

test('a file with two languages and subtitles has them as playable tracks', async () => {
  const folder = await temporaryFolder();
  const file = path.join(folder, 'tracks.mkv');
  const sound = path.join(folder, 'sound.m4a');
  const size = { width: 16, height: 16, frameRate: 30 };
  const signal = AbortSignal.timeout(60_000);
  await generateClip({ source: 'none', ...size, seconds: 2, tone: 880, path: sound }, signal);
  await addTracks(await mediaSample('portrait.mp4'), file, {
    sounds: [{ path: sound, language: 'fre' }],
    subtitles: [
      {
        codec: 'subrip',
        language: 'ger',
        lines: [{ startMs: 100, endMs: 900, text: '<b>Hallo</b> <script>x</script>' }],
      },
    ],
  });
  const made = await service.call('POST', '/v1/content/upload', {
    body: form([
      ['title', 'Tracks'],
      ['file', await readFile(file)],
    ]),
  });
  const { id } = made.body.data;
  await settledItem(service, id, 'ready');
  const item = await eventually('the captions', async () => {
    const { body } = await service.call('GET', `/v1/content/${id}`);
    return body.data.captionTracks.length === 0 ? null : body.data;
  });
  const [{ id: _, createdAt: __, trackId: ___, url, ...track }] = item.captionTracks;
  assert.deepEqual(track, {
    language: 'de',
    label: 'Deutsch',
    source: 'uploaded',
    status: 'ready',
  });
  const files = await fetchAll(service, item.streamingUrl);
  assert.ok(files.every(({ reply }) => reply.status === 200));
  const master = files[0]?.reply.text ?? '';
  assert.match(master, /TYPE=AUDIO,.*LANGUAGE="en",DEFAULT=YES.*URI="audio\/index\.m3u8"/);
  assert.match(master, /TYPE=AUDIO,.*LANGUAGE="fr",DEFAULT=NO.*URI="audio2\/index\.m3u8"/);
  assert.match(master, /TYPE=SUBTITLES,.*LANGUAGE="de"/);
  assert.match(master, /,AUDIO="audio",SUBTITLES="captions"$/m);
  const captions = files.find((one) => new URL(url).pathname === new URL(one.url).pathname);
  assert.match(captions?.reply.text ?? '', /00:00:00\.100 --> 00:00:00\.900\n<b>Hallo<\/b> x/);
  const { body } = await service.call(
    'DELETE',
    `/v1/content/${id}/captions/${item.captionTracks[0].id}`,
  );
  assert.equal(body.data.deleted, true);
});
