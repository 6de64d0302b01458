/** Proves that additional audio and subtitle tracks are kept, and that players can choose them. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { mediaSample } from '../../../test/media-samples.ts';
import { generateClip, runMediaTask } from './media.ts';
import { readMedia, readRendition } from './testing/media-reader.ts';
import { GENEROUS, workFolder, type WorkFolder } from './testing/run-task.ts';
import { addTracks, type AddedTracks } from './testing/tracks-file.ts';

const LINES = [
  { startMs: 500, endMs: 1_500, text: 'One' },
  { startMs: 1_600, endMs: 1_900, text: 'Two, with a comma' },
];

async function process(folder: WorkFolder, sourcePath: string) {
  const outputDir = join(folder.path, 'prepared');
  const task = { sourcePath, outputDir, maxDurationSeconds: 60, quality: 'basic' } as const;
  const prepared = await runMediaTask({ type: 'prepare', ...task }, GENEROUS);
  const completedDir = join(folder.path, 'completed');
  const completed = await runMediaTask(
    { type: 'complete', sourcePath, outputDir: completedDir, prepared },
    GENEROUS,
  );
  return {
    prepared,
    completed,
    outputDir,
    completedDir,
    master: await readFile(join(completedDir, 'master.m3u8'), 'utf8'),
    firstMaster: await readFile(join(outputDir, 'master.m3u8'), 'utf8'),
  };
}

async function withTracks(folder: WorkFolder, name: string, tracks: AddedTracks) {
  const path = join(folder.path, name);
  await addTracks(await mediaSample('portrait.mp4'), path, tracks);
  return path;
}

async function sound(folder: WorkFolder, seconds: number): Promise<string> {
  const path = join(folder.path, 'sound.m4a');
  const { signal } = GENEROUS;
  const size = { width: 16, height: 16, frameRate: 30 };
  await generateClip({ source: 'none', ...size, seconds, tone: 880, path }, signal);
  return path;
}

test('a second language becomes an audio group, separate from the video shared by all', async () => {
  await using folder = await workFolder();
  const sounds = [{ path: await sound(folder, 1), language: 'ger' }];
  const source = await withTracks(folder, 'languages.mkv', { sounds, subtitles: [] });
  const { completed, completedDir, firstMaster, master, outputDir } = await process(folder, source);
  const groups = [...master.matchAll(/^#EXT-X-MEDIA:TYPE=AUDIO,(.*)$/gm)].map(([, text]) => text);
  assert.deepEqual(groups, [
    'GROUP-ID="audio",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="audio/index.m3u8"',
    'GROUP-ID="audio",NAME="Deutsch",LANGUAGE="de",DEFAULT=NO,AUTOSELECT=YES,CHANNELS="2",URI="audio2/index.m3u8"',
  ]);
  assert.match(firstMaster, /URI="audio\/index\.m3u8"/, 'the first rendition has its sound');
  for (const line of master.match(/^#EXT-X-STREAM-INF:.*$/gm) ?? []) {
    assert.match(line, /mp4a\.40\.2".*AUDIO="audio"$/);
  }
  assert.match(master, /CODECS="mp4a\.40\.2",AUDIO="audio"\naudio\/index\.m3u8\n$/);
  assert.deepEqual(
    completed.rungs.map(({ name }) => name),
    ['360', 'audio', '240', 'audio2'],
  );
  for (const [base, name] of [
    [outputDir, '360'],
    [completedDir, '240'],
  ] as const) {
    const { pictures, sounds: muxed } = await readRendition(join(base, name));
    assert.deepEqual([pictures.length, muxed.length], [60, 0], name);
  }
  for (const [base, name] of [
    [outputDir, 'audio'],
    [completedDir, 'audio2'],
  ] as const) {
    const { pictures, sounds: alone } = await readRendition(join(base, name));
    const start = alone[0]?.seconds ?? 0;
    const end = alone.at(-1)?.seconds ?? 0;
    assert.equal(pictures.length, 0);
    assert.ok(
      Math.abs(start - 0.2) < 0.03 && Math.abs(end - 2.2) < 0.06,
      `${name}: ${start} ${end}`,
    );
  }
  const download = await readMedia(join(outputDir, 'download/video.mp4'));
  assert.deepEqual(
    download.map(({ isVideo }) => isVideo),
    [true, false],
    'the download has the first sound',
  );
});

test('a file with one audio track has it in every rendition, and audio alone for a bad connection', async () => {
  await using folder = await workFolder();
  const { completedDir, master } = await process(folder, await mediaSample('portrait.mp4'));
  assert.doesNotMatch(master, /EXT-X-MEDIA/);
  assert.match(master, /AVERAGE-BANDWIDTH=\d+,CODECS="mp4a\.40\.2"\naudio\/index\.m3u8\n$/);
  const { pictures, sounds } = await readRendition(join(completedDir, 'audio'));
  assert.equal(pictures.length, 0);
  assert.ok(sounds.length > 90, String(sounds.length));
});

test('the owner is told that kept sounds and subtitles are used, and why the others are not', async () => {
  await using folder = await workFolder();
  const german = { path: await sound(folder, 1), language: 'ger' };
  const source = await withTracks(folder, 'told.mkv', {
    sounds: [german, ...Array.from({ length: 7 }, () => german)],
    subtitles: [
      { codec: 'subrip', language: 'eng', lines: LINES },
      { codec: 'subrip', language: 'spa', lines: [] },
    ],
  });
  const outputDir = join(folder.path, 'prepared');
  const task = { sourcePath: source, outputDir, maxDurationSeconds: 60, quality: 'basic' } as const;
  const { sourceTracks = [] } = await runMediaTask({ type: 'prepare', ...task }, GENEROUS);
  assert.deepEqual(
    sourceTracks.map(({ kind, reason, used }) => [kind, used, reason]),
    [
      ['video', true, null],
      ...Array.from({ length: 8 }, () => ['audio', true, null]),
      ['audio', false, 'another_track'],
      ['subtitle', true, null],
      ['subtitle', false, 'empty'],
    ],
  );
});

test('subtitles in Matroska and MP4 come out as SubRip, with their languages and titles', async () => {
  await using folder = await workFolder();
  const ass = [{ startMs: 500, endMs: 1_500, text: '{\\i1}Un{\\i0}\\Ndeux, trois' }];
  const matroska = await withTracks(folder, 'subtitles.mkv', {
    sounds: [],
    subtitles: [
      { codec: 'subrip', language: 'eng', lines: LINES },
      { codec: 'ass', language: 'fre', title: 'Forced', lines: ass },
      { codec: 'subrip', language: 'spa', lines: [] },
    ],
  });
  const { completed, completedDir } = await process(folder, matroska);
  assert.deepEqual(completed.subtitles, [
    { language: 'en', label: 'English', cues: 'subtitles-1.srt' },
    { language: 'fr', label: 'Forced', cues: 'subtitles-2.srt' },
  ]);
  const text = (name: string) => readFile(join(completedDir, name), 'utf8');
  assert.equal(
    await text('subtitles-1.srt'),
    '1\n00:00:00,500 --> 00:00:01,500\nOne\n\n2\n00:00:01,600 --> 00:00:01,900\nTwo, with a comma\n',
  );
  assert.equal(
    await text('subtitles-2.srt'),
    '1\n00:00:00,500 --> 00:00:01,500\nUn\ndeux, trois\n',
  );
  await using other = await workFolder();
  const mp4 = await withTracks(other, 'subtitles.mp4', {
    sounds: [],
    subtitles: [{ codec: 'mov_text', language: 'jpn', lines: LINES }],
  });
  const timed = await process(other, mp4);
  assert.deepEqual(timed.completed.subtitles, [
    { language: 'ja', label: '日本語', cues: 'subtitles-1.srt' },
  ]);
  assert.match(await readFile(join(timed.completedDir, 'subtitles-1.srt'), 'utf8'), /One\n\n2\n/);
});
