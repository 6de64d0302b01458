import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { type EngagementEvent } from '../events.ts';
import { ViewMeter, type Sample } from './view-meter.ts';

type Watched = {
  readonly meter: ViewMeter;
  readonly events: EngagementEvent[];
  /**
   * Continues playing from the last sample at 16 samples per second, unless `changes` say
   * otherwise.
   */
  readonly play: (seconds: number, changes?: Partial<Sample>) => void;
  /** One sample, a sixteenth of a second after the last. */
  readonly take: (changes: Partial<Sample>) => void;
  readonly kinds: () => string[];
};

function watch(length = 10): Watched {
  const events: EngagementEvent[] = [];
  const meter = new ViewMeter('clip-1', 'view-1', (event) => events.push(event));
  let last: Sample = {
    atMs: 1_000,
    position: 0,
    length,
    paused: false,
    seeking: false,
    starved: false,
    rendition: '720p',
    codec: 'avc1.64001f',
  };
  const take = (changes: Partial<Sample>): void => {
    last = { ...last, atMs: last.atMs + 62.5, ...changes };
    meter.take(last);
  };
  meter.take(last);
  return {
    meter,
    events,
    take,
    play(seconds, changes = {}) {
      for (let step = 0; step < seconds * 16; step += 1) {
        take({ position: (last.position + 1 / 16) % length, ...changes });
      }
    },
    kinds: () => events.map(({ event }) => event),
  };
}

function dataOf(events: EngagementEvent[], kind: string): Record<string, unknown>[] {
  return events.flatMap((event) => (event.event === kind ? [{ ...event.data }] : []));
}

test('the start is reported once, with the time from the request to play to the first picture', () => {
  const { events, take, play, kinds } = watch();
  for (let step = 0; step < 6; step += 1) take({ starved: true });
  play(2);
  assert.deepEqual(kinds(), ['playStart']);
  assert.deepEqual(dataOf(events, 'playStart'), [
    {
      startupTime: 438,
      autoplay: true,
      viewId: 'view-1',
      rendition: '720p',
      codec: 'avc1.64001f',
    },
  ]);
});

test('a start that waits for the viewer counts from the press, and is not autoplay', () => {
  const { events, take, play } = watch();
  for (let step = 0; step < 100; step += 1) take({ paused: true });
  take({ paused: false });
  play(1);
  const [start] = dataOf(events, 'playStart');
  assert.deepEqual([start?.['startupTime'], start?.['autoplay']], [63, false]);
});

test('a clip that never starts reports nothing but its failure', () => {
  const { events, meter, take } = watch();
  for (let step = 0; step < 40; step += 1) take({ starved: true });
  meter.fail('manifestLoadError', 'gone');
  meter.pause(9_000);
  assert.deepEqual(events, [
    {
      event: 'error',
      contentId: 'clip-1',
      data: { errorCode: 'manifestLoadError', errorMessage: 'gone', viewId: 'view-1' },
    },
  ]);
});

test('progress is reported every five seconds and at the end, as a running total', () => {
  const { events, meter, play } = watch(100);
  play(12);
  meter.pause(0);
  meter.pause(0);
  const reports = dataOf(events, 'watchProgress');
  assert.deepEqual(
    reports.map(({ currentTime, watchTime }) => [currentTime, watchTime]),
    [
      [5, 5],
      [10, 10],
      [12, 12],
    ],
  );
  assert.deepEqual(
    reports.map(({ duration, percentComplete }) => [duration, percentComplete]),
    [
      [100, 5],
      [100, 10],
      [100, 12],
    ],
  );
  assert.equal(meter.watchTime, 12);
});

test('the first end completes the view, and its loops are reported once, at the end of the view', () => {
  const { events, meter, play } = watch(4);
  play(10);
  meter.pause(0);
  assert.deepEqual(dataOf(events, 'completion'), [
    { watchTime: 4, looped: false, loopCount: 0, viewId: 'view-1' },
    { watchTime: 10, looped: true, loopCount: 1, viewId: 'view-1' },
  ]);
  const [first, ...others] = dataOf(events, 'watchProgress');
  assert.deepEqual([first?.['currentTime'], first?.['percentComplete']], [4, 100]);
  assert(others.every(({ percentComplete }) => percentComplete === 100));
  assert.equal(meter.watchTime, 10);
  assert.equal(others.at(-1)?.['watchTime'], 10);
});

test('a clip whose last frame is at or beyond its very end is complete as well', () => {
  for (const position of [4, 4.001]) {
    const { events, take, play } = watch(4);
    play(3.9375);
    take({ position });
    take({ position: 0 });
    assert.equal(dataOf(events, 'completion').length, 1);
  }
});

test('jumps and pauses add no watch time, and jumping back from the middle is not a loop', () => {
  const { events, meter, take, play } = watch(100);
  play(3);
  take({ position: 80, seeking: true });
  take({ position: 80, seeking: false });
  play(1);
  take({ position: 2, seeking: true });
  take({ seeking: false });
  play(1);
  for (let step = 0; step < 200; step += 1) take({ paused: true });
  take({ paused: false });
  play(1);
  meter.pause(0);
  assert.equal(meter.watchTime, 6);
  assert.deepEqual(dataOf(events, 'completion'), []);
  assert.equal(dataOf(events, 'watchProgress').at(-1)?.['percentComplete'], 81);
});

test('a stall is reported with its length when it ends, or when the viewer leaves', () => {
  const { events, meter, play, take } = watch(100);
  play(2);
  for (let step = 0; step < 20; step += 1) take({ starved: true });
  take({ starved: false });
  play(1);
  take({ starved: true });
  take({ starved: false });
  play(1);
  take({ starved: true });
  meter.pause(10_000);
  const stalls = dataOf(events, 'rebuffer');
  assert.deepEqual(stalls[0], {
    duration: 1_250,
    currentTime: 2,
    viewId: 'view-1',
    rendition: '720p',
  });
  assert.equal(stalls.length, 2, 'a frame that came late is not a stall');
  assert.equal(stalls[1]?.['currentTime'], 4);
  assert.equal(meter.watchTime, 4);
});

test('waiting before the start and after a jump is not a stall', () => {
  const { events, take, play } = watch(100);
  for (let step = 0; step < 20; step += 1) take({ starved: true });
  take({ starved: false });
  play(1);
  for (let step = 0; step < 20; step += 1) take({ position: 50, seeking: true, starved: true });
  take({ seeking: false, starved: false });
  play(1);
  assert.deepEqual(dataOf(events, 'rebuffer'), []);
});

test('a change of rendition is reported with the previous one; unknown ones in between are not', () => {
  const { events, play } = watch(100);
  play(1);
  play(1, { rendition: null });
  play(1, { rendition: '720p' });
  play(1, { rendition: '1080p' });
  assert.deepEqual(dataOf(events, 'qualityChange'), [
    { fromQuality: '720p', toQuality: '1080p', viewId: 'view-1' },
  ]);
});

test('a live stream has no length, and its progress no percentage', () => {
  const { events, meter, take } = watch(Infinity);
  for (let step = 1; step <= 32; step += 1) take({ position: step / 16 });
  meter.pause(0);
  const [report] = dataOf(events, 'watchProgress');
  assert.equal(report?.['duration'], 0);
  assert.equal(report?.['percentComplete'], undefined);
  assert.equal(report?.['watchTime'], 2);
});
