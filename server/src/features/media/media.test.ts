import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import sharp from 'sharp';
import { thumbHashToRGBA } from 'thumbhash';
import { mediaSample, type ClipName } from '../../../test/media-samples.ts';
import { runMediaTask } from './media.ts';
import { readMedia, readSegments } from './testing/media-reader.ts';
import { GENEROUS, prepareSample, workFolder } from './testing/run-task.ts';

const FRAME_TOLERANCE_SECONDS = 0.001;

function assertClose(actual: number, expected: number, tolerance: number, what: string): void {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what}: ${actual}, not ${expected}`);
}

const shared = await workFolder();
after(() => shared[Symbol.asyncDispose]());
const landscape = await prepareSample(shared, 'landscape.mp4');

test('prepare makes a clip playable: info, thumbnail, first rung and master', async () => {
  const { outputDir, ...result } = landscape;
  assert.deepEqual(result.info, {
    kind: 'video',
    durationSeconds: 5,
    width: 1280,
    height: 720,
    aspectRatio: '16:9',
    maxFrameRate: 30,
    resolutionTier: 'HD',
    hasAudio: true,
    videoCodec: 'h264',
    audioCodec: 'aac',
    rotationDegrees: 0,
    isHdr: false,
  });
  assert.deepEqual(
    result.remainingRungs.map((rung) => rung.name),
    ['540', '360', '240', 'audio'],
  );
  assert.deepEqual((await readdir(outputDir)).sort(), [
    '720',
    'download',
    'master.m3u8',
    'thumbnail-small.jpg',
    'thumbnail-small.webp',
    'thumbnail.jpg',
    'thumbnail.webp',
  ]);
  const download = await readMedia(join(outputDir, 'download', 'video.mp4'));
  assert.deepEqual(
    download.map(({ isVideo, frames }) => [
      isVideo,
      Math.round((frames.at(-1)?.seconds ?? 0) * 10),
    ]),
    [
      [true, 50],
      [false, 50],
    ],
  );
  const bytes = await readFile(join(outputDir, 'download', 'video.mp4'));
  assert.ok(bytes.indexOf('moov') < bytes.indexOf('mdat'), 'plays while it loads');
  assert.deepEqual((await readdir(join(outputDir, '720'))).sort(), [
    '000.m4s',
    '001.m4s',
    '002.m4s',
    'index.m3u8',
    'init.mp4',
  ]);
  const [picture] = await readMedia(join(outputDir, 'thumbnail.jpg'));
  assert.deepEqual(
    picture?.frames[0] && [picture.frames[0].width, picture.frames[0].height],
    [1280, 720],
  );
});

test('the first segment is a second and every other two; each starts with a key frame and decodes by itself', async () => {
  const { outputDir, rungs } = landscape;
  const segments = await readSegments(join(outputDir, '720'));
  assert.deepEqual(
    segments.map((segment) => segment.declaredSeconds),
    [1, 2, 2],
  );
  for (const { video, audio, declaredSeconds } of segments) {
    assert.ok(video !== undefined && audio !== undefined);
    assert.equal(video.frames.length, declaredSeconds * 30);
    assert.equal(video.packetIsIdr[0], true, 'starts with a key frame');
    assert.equal(video.packetIsIdr.filter(Boolean).length, 1, 'a single group of pictures');
    assert.ok(video.frames.every((frame) => frame.width === 1280 && frame.height === 720));
    assert.equal(rungs[0]?.codecs, `${video.codec},${audio.codec}`);
  }
});

test('complete adds the other rungs and a master that lists all, the first rung first', async () => {
  const { outputDir: _, ...prepared } = landscape;
  const outputDir = join(shared.path, 'completed');
  const sourcePath = await mediaSample('landscape.mp4');
  const fractions: number[] = [];
  const result = await runMediaTask(
    { type: 'complete', sourcePath, outputDir, prepared },
    { ...GENEROUS, onProgress: (fraction) => fractions.push(fraction) },
  );
  assert.deepEqual((await readdir(outputDir)).sort(), [
    '240',
    '360',
    '540',
    'audio',
    'master.m3u8',
    'preview',
    'storyboard',
  ]);
  const master = await readFile(join(outputDir, result.master), 'utf8');
  assert.deepEqual(master.match(/^\w+\/index\.m3u8$/gm), [
    '720/index.m3u8',
    '540/index.m3u8',
    '360/index.m3u8',
    '240/index.m3u8',
    'audio/index.m3u8',
  ]);
  for (const rung of result.rungs.slice(1, -1)) {
    const [first] = await readSegments(join(outputDir, rung.name));
    assert.equal(first?.video?.frames[0]?.width, rung.width);
    assert.equal(first?.video?.frames[0]?.height, rung.height);
    assert.ok(rung.peakBandwidthBps >= rung.averageBandwidthBps);
  }
  assert.deepEqual(
    fractions,
    fractions.toSorted((a, b) => a - b),
    'progress never falls',
  );
});

test('thumbnails come in two sizes and formats, preview and storyboard show the clip', async () => {
  await using folder = await workFolder();
  const { outputDir, ...prepared } = await prepareSample(folder, 'portrait.mp4');
  const completed = join(folder.path, 'completed');
  const sourcePath = await mediaSample('portrait.mp4');
  await runMediaTask({ type: 'complete', sourcePath, outputDir: completed, prepared }, GENEROUS);
  const meta = async (path: string) => {
    const { format, width, height, pages, delay, pageHeight } = await sharp(path, {
      animated: true,
    }).metadata();
    return { format, width, height: pageHeight ?? height, pages: pages ?? 1, delay };
  };
  for (const [name, width, height] of [
    ['thumbnail', 360, 640],
    ['thumbnail-small', 270, 480],
  ] as const) {
    for (const [ending, format] of [
      ['jpg', 'jpeg'],
      ['webp', 'webp'],
    ] as const) {
      const found = await meta(join(outputDir, `${name}.${ending}`));
      assert.deepEqual([found.format, found.width, found.height], [format, width, height]);
    }
  }
  const hash = thumbHashToRGBA(Buffer.from(prepared.thumbnailHash ?? '', 'base64'));
  assert.ok(hash.h > hash.w, 'the hash knows that the clip is upright');
  const preview = await meta(join(completed, 'preview', 'preview.webp'));
  assert.deepEqual([preview.width, preview.height, preview.pages], [270, 480, 20]);
  assert.deepEqual(new Set(preview.delay), new Set([100]));
  const storyboard = await meta(join(completed, 'storyboard', 'storyboard.jpg'));
  assert.deepEqual([storyboard.width, storyboard.height], [180, 160]);
  const track = await readFile(join(completed, 'storyboard', 'storyboard.vtt'), 'utf8');
  assert.deepEqual(track.match(/^.*(-->|#xywh).*$/gm), [
    '00:00:00.000 --> 00:00:01.000',
    'storyboard.jpg#xywh=0,0,90,160',
    '00:00:01.000 --> 00:00:02.000',
    'storyboard.jpg#xywh=90,0,90,160',
  ]);
});

test('rungs of 60 and 30 frames per second start at the same time as their sound', async () => {
  await using folder = await workFolder();
  const { outputDir, ...prepared } = await prepareSample(folder, 'sixty-fps.mp4');
  const completed = join(folder.path, 'completed');
  const sourcePath = await mediaSample('sixty-fps.mp4');
  await runMediaTask({ type: 'complete', sourcePath, outputDir: completed, prepared }, GENEROUS);
  const starts = await Promise.all(
    [join(outputDir, '720'), join(completed, '540'), join(completed, '360')].map(async (rung) => {
      const [first] = await readSegments(rung);
      // The decoder drops AAC priming, so its first frame is the first audible one.
      return [first?.video?.frames[0]?.seconds ?? -1, first?.audio?.frames[0]?.seconds ?? -1];
    }),
  );
  for (const [video = -1, audio = -1] of starts) {
    assertClose(video, 0.2, FRAME_TOLERANCE_SECONDS, 'picture');
    assertClose(audio, 0.2, 0.0225, 'sound');
  }
});

test('each kind of container comes out the same', async () => {
  const names: ClipName[] = [
    'portrait.mkv',
    'portrait.mov',
    'portrait.ts',
    'portrait.avi',
    'portrait.flv',
  ];
  for (const name of names) {
    await using folder = await workFolder();
    const { info, rungs } = await prepareSample(folder, name);
    assert.deepEqual([info.width, info.height, info.maxFrameRate], [360, 640, 30], name);
    assertClose(info.durationSeconds, 2, 0.05, name);
    assert.equal(rungs[0]?.codecs, 'avc1.64001e,mp4a.40.2', name);
  }
});

test('an NTSC rate is kept, and segments are as long as 30 and 60 of its frames', async () => {
  await using folder = await workFolder();
  const { info, rungs, outputDir } = await prepareSample(folder, 'ntsc.mp4');
  assert.equal(info.maxFrameRate, 29.97);
  assert.equal(rungs[0]?.frameRate, 29.97);
  const [first, second] = await readSegments(join(outputDir, '360'));
  assertClose(first?.declaredSeconds ?? 0, 1.001, 0.001, 'first segment');
  assertClose(second?.declaredSeconds ?? 0, 2.002, 0.001, 'segment');
});

test('a silent clip gets no audio stream', async () => {
  await using folder = await workFolder();
  const { info, rungs, outputDir } = await prepareSample(folder, 'silent.mp4');
  assert.equal(info.hasAudio, false);
  assert.equal(rungs[0]?.codecs, 'avc1.64001e');
  assert.equal((await readSegments(join(outputDir, '360')))[0]?.audio, undefined);
});

test('a file with sound alone becomes one audio rendition with its waveform as thumbnail', async () => {
  await using folder = await workFolder();
  const { info, rungs, thumbnailHash, remainingRungs, outputDir } = await prepareSample(
    folder,
    'audio-only.m4a',
  );
  assert.equal(info.resolutionTier, 'audio-only');
  assert.deepEqual(
    [info.width, info.height, info.maxFrameRate, info.aspectRatio],
    [null, null, null, null],
  );
  assert.equal(typeof thumbnailHash, 'string');
  const { data, info: size } = await sharp(join(outputDir, 'thumbnail.webp'))
    .raw()
    .toBuffer({ resolveWithObject: true });
  assert.deepEqual([size.width, size.height], [720, 1280]);
  const greenAt = (x: number, y: number) => data[(y * size.width + x) * size.channels + 1] ?? 0;
  assert.ok(greenAt(360, 640) > 150, 'the wave goes through the middle');
  assert.ok(greenAt(360, 100) < 60, 'and leaves the rest dark');
  assert.deepEqual(remainingRungs, []);
  assert.equal(rungs[0]?.codecs, 'mp4a.40.2');
  assert.ok(((await readSegments(join(outputDir, 'audio')))[0]?.audio?.frames.length ?? 0) > 0);
});

test('picture and sound of different length both reach the end of the longer one', async () => {
  for (const name of ['short-sound.mp4', 'long-sound.mp4'] as const) {
    await using folder = await workFolder();
    const { info, outputDir } = await prepareSample(folder, name);
    assertClose(info.durationSeconds, 5, 0.05, name);
    const segments = await readSegments(join(outputDir, '360'));
    assert.deepEqual(
      segments.map(({ declaredSeconds }) => Math.round(declaredSeconds)),
      [1, 2, 2],
      name,
    );
    const last = segments.at(-1);
    assertClose(last?.video?.frames.at(-1)?.seconds ?? 0, 5.2, 0.06, `picture of ${name}`);
    assertClose(last?.audio?.frames.at(-1)?.seconds ?? 0, 5.2, 0.06, `sound of ${name}`);
  }
});

test('odd sizes lose a row and a column and are not scaled up', async () => {
  await using folder = await workFolder();
  const { info, rungs } = await prepareSample(folder, 'odd-size.mp4');
  assert.deepEqual([info.width, info.height], [361, 641]);
  assert.deepEqual([rungs[0]?.width, rungs[0]?.height], [360, 640]);
});

/** Y, Cb and Cr of the bars that identify the corners, in full-range BT.601 as in JPEG. */
const GRAY_BAR = [191, 128, 128] as const;
const BLUE_BAR = [22, 224, 112] as const;

test('rotation is applied to video and thumbnail, with the right colours', async () => {
  await using folder = await workFolder();
  const { info, outputDir } = await prepareSample(folder, 'rotated-90.mp4');
  assert.deepEqual([info.width, info.height, info.rotationDegrees], [360, 640, 90]);
  assert.equal(info.aspectRatio, '9:16');
  const [picture] = await readMedia(join(outputDir, 'thumbnail.jpg'));
  assert.ok(picture !== undefined);
  assert.deepEqual([picture.frames[0]?.width, picture.frames[0]?.height], [360, 640]);
  // The bars run from gray on the left to blue on the right; after rotation, from top to bottom.
  for (const [y, bar] of [
    [0.05, GRAY_BAR],
    [0.95, BLUE_BAR],
  ] as const) {
    picture.pixel(0.8, y).forEach((value, plane) => {
      assertClose(value, bar[plane] ?? 0, 6, `plane ${plane} at ${y}`);
    });
  }
  const [segment] = await readSegments(join(outputDir, '360'));
  const [luma = 0] = segment?.video?.pixel(0.8, 0.05) ?? [];
  assertClose(luma, 180, 4, 'gray in limited range');
});

test('an HDR clip is mapped to 8-bit BT.709', async () => {
  await using folder = await workFolder();
  const { info, rungs, outputDir } = await prepareSample(folder, 'hdr.mp4');
  assert.equal(info.isHdr, true);
  assert.equal(info.videoCodec, 'hevc');
  assert.match(rungs[0]?.codecs ?? '', /^avc1\.64/);
  const [picture] = await readMedia(join(outputDir, 'thumbnail.jpg'));
  const [luma = 0, cb = 0] = picture?.pixel(0.93, 0.3) ?? [];
  assert.ok(luma < 80 && cb > 200, `the blue bar stays blue: ${luma} ${cb}`);
});

test('the thumbnail skips a black start but takes black where there is nothing else', async () => {
  await using folder = await workFolder();
  const bright = await prepareSample(folder, 'black-start.mp4');
  const [picture] = await readMedia(join(bright.outputDir, 'thumbnail.jpg'));
  assert.ok((picture?.pixel(0.1, 0.9)[0] ?? 0) > 40);
  await using other = await workFolder();
  const black = await prepareSample(other, 'black.mp4');
  const [blackPicture] = await readMedia(join(black.outputDir, 'thumbnail.jpg'));
  assert.ok((blackPicture?.pixel(0.5, 0.5)[0] ?? 255) < 4);
});

test('plus adds AV1 renditions that decode, and names their codec in the master', async () => {
  await using folder = await workFolder();
  const { outputDir: _, ...prepared } = await prepareSample(folder, 'hd-3s.mp4', {
    quality: 'plus',
  });
  const outputDir = join(folder.path, 'completed');
  const sourcePath = await mediaSample('hd-3s.mp4');
  const task = { type: 'complete', sourcePath, outputDir, prepared } as const;
  const result = await runMediaTask(task, GENEROUS);
  assert.deepEqual(
    result.rungs.map((rung) => rung.name),
    ['720', '540', '360', '240', '720av1', '540av1', 'audio'],
  );
  const av1 = result.rungs.find((rung) => rung.name === '720av1');
  assert.match(av1?.codecs ?? '', /^av01\.0\.\d\dM\.08[.0-9]*,mp4a\.40\.2$/);
  const segments = await readSegments(join(outputDir, '720av1'));
  assert.deepEqual(
    segments.map((segment) => segment.declaredSeconds),
    [1, 2],
  );
  for (const { video, declaredSeconds } of segments) {
    assert.equal(video?.frames.length, declaredSeconds * 30);
  }
});
