import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import {
  storyboardLayout,
  storyboardTrack,
} from '../../../server/src/features/media/storyboard.ts';
import { readStoryboard } from './storyboard.ts';

test('a storyboard is read as the service writes it', () => {
  const layout = storyboardLayout(3_700, { width: 90, height: 160 });
  const track = storyboardTrack(layout, 'storyboard.jpg');
  const tiles = readStoryboard(track, 'https://video.example.com/media/t/x/p/a/storyboard.vtt');
  assert.equal(tiles.length, 50);
  assert.deepEqual(tiles[49], {
    startSeconds: 49 * 74,
    url: 'https://video.example.com/media/t/x/p/a/storyboard.jpg',
    x: 9 * 90,
    y: 4 * 160,
    width: 90,
    height: 160,
  });
  assert.deepEqual(readStoryboard('<html>', 'https://video.example.com/'), []);
});
