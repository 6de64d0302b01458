/**
 * Language detection and captions with the real engine: FFmpeg's whisper filter loads a synthetic
 * model (see `whisper-model.ts`), detects its language and writes a transcript.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { fetchAll, form, local, readyItem, settledItem } from '../../../test/media.ts';
import { runCommand } from '../../../test/processes.ts';
import { query } from '../../../test/seed.ts';
import { eventually, startService, temporaryFolder } from '../../../test/service.ts';
import { writeWhisperModel } from '../../../test/whisper-model.ts';
import { findVulkanProblem } from '../media/child/engine/vulkan.ts';
import { noise, tone, voice, wav } from '../media/testing/voice.ts';
import { transcribeSpeech } from './speech.ts';

const folder = await temporaryFolder();
const model = path.join(folder, "it's a [model], named: so.bin");
await writeWhisperModel(model, { language: 'de', words: ['Guten', 'Tag'], seconds: 2 });
const service = await startService({ REELFEED_WHISPER_MODEL: model });

const missing = findVulkanProblem();
const withEngine = { skip: missing ?? false };

async function upload(sound: Float32Array, fields: [string, string][] = []): Promise<string> {
  const { status, body, text } = await service.call('POST', '/v1/content/upload', {
    body: form([['title', 'Sound'], ...fields, ['file', wav(sound)]]),
  });
  assert.equal(status, 201, text);
  return body.data.id;
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
async function withCaptions(id: string): Promise<any> {
  return eventually(
    `captions of ${id}`,
    async () => {
      const { body } = await service.call('GET', `/v1/content/${id}`);
      return body.data.captionTracks[0]?.status === 'ready' ? body.data : null;
    },
    300_000,
  );
}

test('a voice gets its language and captions, which the stream names', withEngine, async () => {
  const id = await upload(voice(32), [['customMetadata', '{"mine":1}']]);
  await settledItem(service, id, 'ready', 300_000);
  const item = await withCaptions(id);
  assert.deepEqual(item.customMetadata, { mine: 1, language: 'de' });
  const [track] = item.captionTracks;
  assert.equal(item.captionTracks.length, 1);
  assert.deepEqual([track.language, track.label, track.source], ['de', 'Deutsch', 'generated']);
  const text = await (await fetch(local(service, track.url))).text();
  assert.match(
    text,
    /^WEBVTT\nX-TIMESTAMP-MAP=[^\n]+\n\n00:00:00\.000 --> 00:00:02\.000\nGuten Tag\n/,
  );
  assert.match(text, /00:00:30\.000 --> 00:00:32\.000\nGuten Tag/, 'the second half minute');
  const files = await fetchAll(service, item.streamingUrl);
  assert.match(files[0]?.reply.text ?? '', /TYPE=SUBTITLES.*LANGUAGE="de"/);
  assert.ok(files.every(({ reply }) => reply.status === 200));
  const removed = await service.call('DELETE', `/v1/content/${id}/captions/${track.id}`);
  assert.equal(removed.status, 200);
});

test('what is certainly no speech is und, and has no captions', async () => {
  const ids = await Promise.all([upload(tone(3, 440)), upload(noise(3))]);
  for (const id of ids) {
    const item = await settledItem(service, id, 'ready', 300_000);
    assert.deepEqual(item.customMetadata, { language: 'und' });
    assert.deepEqual(item.captionTracks, []);
  }
  const silent = await readyItem(service, 'silent.mp4');
  assert.equal(silent.customMetadata.language, 'und', 'a video without any sound');
});

test('a killed recognition continues with its track', withEngine, async () => {
  const id = await upload(voice(5));
  await withCaptions(id);
  // Simulates a kill: the track is open, its files exist, and the job is queued again.
  const [job] = await query(service, `select organization_id from content where content_id = $1`, [
    id,
  ]);
  await query(
    service,
    `with opened as (
       update asset set state = 'preparing', folder = null,
         metadata = metadata || '{"heard":"de"}' where content_id = $1 returning asset_id
     )
     update content set revision = revision + 1, assets = (
       select jsonb_agg(asset || '{"state":"preparing","folder":null}'
         || jsonb_build_object('metadata', (asset -> 'metadata') || '{"heard":"de"}'))
       from jsonb_array_elements(assets) as asset
     ) where content_id = $1`,
    [id],
  );
  const preparing = await service.call('GET', `/v1/content/${id}`);
  assert.deepEqual(
    [preparing.body.data.captionTracks[0].status, preparing.body.data.captionTracks[0].url],
    ['preparing', ''],
  );
  await query(
    service,
    `insert into job (organization_id, name, payload, state) values ($1, $2, $3, 'waiting')`,
    [job?.['organization_id'], transcribeSpeech.name, JSON.stringify({ contentId: id })],
  );
  const item = await withCaptions(id);
  assert.equal(item.captionTracks.length, 1, 'the same track, not another one');
});

test('without a model the language of speech stays absent, and doctor says what is missing', async () => {
  const other = await startService({});
  const { body } = await other.call('POST', '/v1/content/upload', {
    body: form([
      ['title', 'Voice'],
      ['file', wav(voice(4))],
    ]),
  });
  const item = await settledItem(other, body.data.id, 'ready', 300_000);
  assert.deepEqual(item.customMetadata, {});
  const doctor = async (env: Record<string, string>) => {
    const settings = { REELFEED_DATA_DIR: path.join(folder, 'none'), REELFEED_MIN_FREE_BYTES: '0' };
    const { stdout } = await runCommand(['doctor', '--json'], { env: { ...settings, ...env } });
    const { findings } = JSON.parse(stdout);
    return findings.find(({ subject }: { subject: string }) => subject === 'Speech');
  };
  const wrong = path.join(folder, 'wrong.bin');
  await writeFile(wrong, 'no model');
  const unset = await doctor({});
  const absent = await doctor({ REELFEED_WHISPER_MODEL: path.join(folder, 'missing.bin') });
  const useless = await doctor({ REELFEED_WHISPER_MODEL: wrong });
  const works = await doctor({ REELFEED_WHISPER_MODEL: model });
  assert.equal(unset.state, 'note');
  assert.match(unset.mend, /REELFEED_WHISPER_MODEL/);
  assert.deepEqual(
    [absent.state, useless.state, works.state],
    ['problem', 'problem', missing === null ? 'ok' : 'problem'],
    JSON.stringify([absent, useless, works]),
  );
  if (missing !== null) assert.match(works.detail, /libvulkan.so.1 is missing/);
});
