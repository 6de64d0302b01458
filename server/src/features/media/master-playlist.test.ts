import assert from 'node:assert/strict';
import { test } from 'node:test';
import { masterPlaylist } from './master-playlist.ts';
import { summarizeMediaPlaylist } from './media-playlist.ts';

const VIDEO = {
  playlist: '720/index.m3u8',
  peakBandwidthBps: 3_000_000,
  averageBandwidthBps: 2_000_000,
  codecs: 'avc1.64001f,mp4a.40.2',
  width: 720,
  height: 1280,
  frameRate: 29.97,
};

test('a variant lists both bandwidths, size, rate and codecs, in the order given', () => {
  const second = { ...VIDEO, playlist: '360/index.m3u8', width: 360, height: 640 };
  assert.deepEqual(masterPlaylist([VIDEO, second]).split('\n'), [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    '#EXT-X-INDEPENDENT-SEGMENTS',
    '#EXT-X-STREAM-INF:BANDWIDTH=3000000,AVERAGE-BANDWIDTH=2000000,RESOLUTION=720x1280,FRAME-RATE=29.970,CODECS="avc1.64001f,mp4a.40.2"',
    '720/index.m3u8',
    '#EXT-X-STREAM-INF:BANDWIDTH=3000000,AVERAGE-BANDWIDTH=2000000,RESOLUTION=360x640,FRAME-RATE=29.970,CODECS="avc1.64001f,mp4a.40.2"',
    '360/index.m3u8',
    '',
  ]);
});

test('a variant without a picture has neither size nor rate', () => {
  const audio = { ...VIDEO, width: null, height: null, frameRate: null, codecs: 'mp4a.40.2' };
  assert.ok(!/RESOLUTION|FRAME-RATE/.test(masterPlaylist([audio])));
});

test('the peak is that of the worst segment and the average that of all of them', async () => {
  const playlist = [
    '#EXTM3U',
    '#EXT-X-MAP:URI="init.mp4"',
    '#EXTINF:2.000000,',
    '000.m4s',
    '#EXTINF:2.000000,',
    '001.m4s',
    '#EXT-X-ENDLIST',
  ].join('\n');
  const bytes: Record<string, number> = { 'init.mp4': 100, '000.m4s': 1000, '001.m4s': 3000 };
  const summary = await summarizeMediaPlaylist(playlist, async (name) => bytes[name] ?? 0);
  assert.deepEqual(summary, {
    durationSeconds: 4,
    segmentCount: 2,
    sizeBytes: 4100,
    peakBandwidthBps: 12_000,
    averageBandwidthBps: 8_000,
  });
});
