/** Tests what low-latency players get, and which of their requests wait. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../../../platform/http/errors.ts';
import type { ListedSegment } from '../ingest/playlists.ts';
import { isReached, readDirectives, refuseFarAhead, type Edge } from './blocking-reload.ts';
import { rungPlaylist } from '../ladder/rung-playlists.ts';
import {
  LowLatencyFollower,
  readLowLatency,
  RungFollower,
} from '../../../../test/live/low-latency-rules.ts';
import {
  lowLatencyPlaylist,
  type ListedPart,
  type LowLatencyPlaylist,
} from './low-latency-playlist.ts';

const edge: Edge = { openSegment: 7, openParts: 2, lastParts: 4 };
const asked = (segment: number, part: number | null = null) => ({ segment, part, isDelta: false });

test('a request waits until its segment or part is there', () => {
  const nothing = { ...edge, openParts: 0 };
  assert.equal(isReached({ segment: null, part: null, isDelta: false }, edge), true);
  assert.equal(isReached(asked(6), edge), true);
  assert.equal(isReached(asked(7), edge), false);
  assert.equal(isReached(asked(7, 1), edge), true);
  assert.equal(isReached(asked(7, 2), edge), false);
  assert.equal(isReached(asked(8, 0), edge), false);
  // After the last part of a segment comes the first one of the next.
  assert.equal(isReached(asked(6, 3), nothing), true);
  assert.equal(isReached(asked(6, 4), nothing), false);
  assert.equal(isReached(asked(6, 4), edge), true);
  assert.equal(isReached(asked(6, 4), { ...nothing, lastParts: 0 }), true);
});

test('positions too far ahead, and values that are not numbers, are rejected', () => {
  const refused = (run: () => void) => assert.throws(run, (error) => error instanceof ApiError);
  refuseFarAhead(asked(8, 0), edge);
  refuseFarAhead(asked(7, 8), edge);
  refused(() => refuseFarAhead(asked(9), edge));
  refused(() => refuseFarAhead(asked(7, 9), edge));
  for (const query of [{ _HLS_msn: '-1' }, { _HLS_msn: '1.5' }, { _HLS_msn: ['1', '2'] }]) {
    refused(() => readDirectives(query));
  }
  refused(() => readDirectives({ _HLS_part: '1' }));
  const read = readDirectives({ _HLS_msn: '5', _HLS_part: '1', _HLS_skip: 'YES', other: 'x' });
  assert.deepEqual(read, { segment: 5, part: 1, isDelta: true });
});

/** The playlist of a stream with half-second parts, at a given point in time. */
function playlistAt(parts: number, window: number): LowLatencyPlaylist {
  const partsOf = new Map<number, ListedPart[]>();
  const segments: ListedSegment[] = [];
  const startedAt = (number: number) => new Date(1_700_000_000_000 + number * 2_000);
  for (let segment = 0; segment * 4 <= parts; segment += 1) {
    const count = Math.min(4, parts - segment * 4);
    const isDiscontinuity = segment % 5 === 4;
    const format = segment % 5 === 4 ? 1 : 0;
    const own = Array.from({ length: count }, (_, number) => ({
      segment,
      number,
      fileName: `part-a-${segment * 4 + number}.m4s`,
      durationMs: 500,
      isIndependent: number === 0,
      segmentStartedAt: startedAt(segment),
      isDiscontinuity: isDiscontinuity || segment % 5 === 0,
      format,
    }));
    if (own.length > 0) partsOf.set(segment, own);
    if (count < 4) continue;
    const [first] = own;
    segments.push({
      number: segment,
      fileName: `${segment}.m4s`,
      durationMs: 2_000,
      startedAt: startedAt(segment),
      isDiscontinuity: first?.isDiscontinuity ?? false,
      format,
    });
  }
  const listed = segments.slice(-window);
  const gone = segments.slice(0, -window);
  return {
    segments: listed,
    parts: partsOf,
    targetDurationSeconds: 2,
    earlierDiscontinuities: gone.filter(({ isDiscontinuity }) => isDiscontinuity).length,
    nextPart: `part-a-${parts}.m4s`,
    canSkip: true,
    reports: [{ uri: 'rung-240.m3u8', lastSegment: segments.length - 1, lastPart: null }],
  };
}

test('a playlist keeps the rules over all of its reloads, at whatever pace', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 30 }), (steps) => {
      const follower = new LowLatencyFollower();
      let parts = 17;
      for (const step of steps) {
        parts += step;
        follower.take(lowLatencyPlaylist(playlistAt(parts, 8), false));
      }
    }),
    { numRuns: 100 },
  );
});

test('a delta leaves out what is older than its boundary, and is the same behind that', () => {
  const playlist = playlistAt(403, 60);
  const [full, delta] = [false, true].map((isDelta) => lowLatencyPlaylist(playlist, isDelta));
  assert.match(full ?? '', /CAN-SKIP-UNTIL=12\.000/);
  const skipped = Number(/#EXT-X-SKIP:SKIPPED-SEGMENTS=(\d+)/.exec(delta ?? '')?.[1]);
  assert.equal(skipped, 54);
  const [all, rest] = [readLowLatency(full ?? ''), readLowLatency(delta ?? '')];
  assert.deepEqual(
    rest.segments.map(({ uri }) => uri),
    all.segments.slice(skipped).map(({ uri }) => uri),
  );
  assert.deepEqual(
    rest.parts.map(({ uri }) => uri),
    all.parts.map(({ uri }) => uri),
  );
  const short = lowLatencyPlaylist({ ...playlist, canSkip: false }, true);
  assert.doesNotMatch(short, /SKIP/);
});

test('a rung can be waited for, keeps the rules, and reports how far the others are', () => {
  const follower = new RungFollower();
  for (let parts = 41; parts < 120; parts += 3) {
    const { segments, ...window } = playlistAt(parts, 8);
    const files = segments.map((segment) => {
      const isGap = segment.number % 7 === 3;
      const fileName = isGap ? null : `rung-240-${segment.fileName}`;
      const headerName = isGap ? null : `rung-240-${segment.format}.mp4`;
      return { ...segment, fileName, headerName };
    });
    const top = { uri: 'index.m3u8', lastSegment: Math.floor(parts / 4), lastPart: parts % 4 };
    const isOpen = { isEnded: false, isWhole: false, reports: [top] };
    const { targetDurationSeconds, earlierDiscontinuities } = window;
    const playlist = { segments: files, targetDurationSeconds, earlierDiscontinuities, ...isOpen };
    const read = follower.take(rungPlaylist(playlist));
    assert.deepEqual(read.reports, [top]);
    const own = readLowLatency(lowLatencyPlaylist(playlistAt(parts, 8), false));
    const lastSegment = segments.at(-1)?.number;
    assert.deepEqual(own.reports, [{ uri: 'rung-240.m3u8', lastSegment, lastPart: null }]);
  }
});

test('the playlist of a stored rung offers no waiting for parts', () => {
  const isOpen = { isEnded: false, isWhole: false };
  const window = { segments: [], targetDurationSeconds: 2, earlierDiscontinuities: 0 };
  assert.doesNotMatch(rungPlaylist({ ...window, ...isOpen }), /SERVER-CONTROL|REPORT/);
});
