import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredAsset } from '../content/content.ts';
import { withCaptions } from './caption-playlist.ts';

const caption = (label: string): StoredAsset => ({
  id: label,
  kind: 'caption',
  position: 0,
  folder: 'playback/captions',
  metadata: { label, language: 'en' },
  state: 'ready',
  createdAt: '2026-01-01T00:00:00.000Z',
});

test('names of tracks differ, also where one looks as if it had been made so', () => {
  const master = '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n720/index.m3u8\n';
  const labels = ['English', 'English 2', 'English', 'English'];
  const text = withCaptions(master, labels.map(caption));
  const names = [...text.matchAll(/NAME="([^"]*)"/g)].map(([, name]) => name);
  assert.deepEqual(names, ['English', 'English 2', 'English 3', 'English 4']);
});
