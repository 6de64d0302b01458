/** Proves that loops restart with back-off, never overlap, and end on request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { background, every, keepRunning, sleep } from './lifecycle.ts';
import { createLogger } from '../logging/logging.ts';

function capture() {
  const lines: { level: string; delayMs: number; err: { message: string } }[] = [];
  const log = createLogger('debug', { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { lines, log };
}

const turns = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

test('sleep ends with its time, at once on abort, and leaves no listener behind', async () => {
  await sleep(1, new AbortController().signal);
  await sleep(3_600_000, AbortSignal.abort());
  const stop = new AbortController();
  const sleeping = sleep(3_600_000, stop.signal);
  stop.abort();
  await sleeping;
  // Waiting on one signal must not accumulate listeners: Node warns at the eleventh.
  const warnings: Error[] = [];
  const note = (warning: Error) => void warnings.push(warning);
  process.on('warning', note);
  const { signal } = new AbortController();
  for (let round = 0; round < 100; round += 1) await sleep(0, signal);
  await turns();
  process.off('warning', note);
  assert.deepEqual(warnings, []);
});

test('a loop that returns is not started again', async () => {
  const { lines, log } = capture();
  let runs = 0;
  await keepRunning('once', async () => void (runs += 1), log, new AbortController().signal);
  assert.equal(runs, 1);
  assert.deepEqual(lines, []);
});

test('a failing loop starts again after delays that double, and says so quietly at first', async () => {
  const { lines, log } = capture();
  const stop = new AbortController();
  const startedAt: number[] = [];
  const run = async () => {
    startedAt.push(performance.now());
    if (startedAt.length === 5) stop.abort();
    throw new Error(`run ${startedAt.length}`);
  };
  await keepRunning('failing', run, log, stop.signal);
  const delays = lines.map(({ delayMs }) => delayMs);
  assert.deepEqual(delays, [100, 200, 400, 800]);
  assert.deepEqual(
    lines.map(({ level }) => level),
    ['info', 'info', 'info', 'info'],
  );
  assert.equal(lines[0]?.err.message, 'run 1');
  // Timers may fire a millisecond early, and arbitrarily late.
  for (const [index, delayMs] of delays.entries()) {
    const waitedMs = (startedAt[index + 1] ?? 0) - (startedAt[index] ?? 0);
    assert.ok(waitedMs >= delayMs - 2, `${waitedMs} ms`);
  }
});

test('an error after the abort is part of the teardown and is not logged', async () => {
  const { lines, log } = capture();
  const loop = background(
    'torn',
    async (signal) => {
      await sleep(3_600_000, signal);
      throw new Error('the connection is gone');
    },
    log,
  );
  await turns();
  await loop[Symbol.asyncDispose]();
  assert.deepEqual(lines, []);
});

test('disposing waits until the loop has really ended', async () => {
  let isDone = false;
  const loop = background(
    'slow end',
    async (signal) => {
      await sleep(3_600_000, signal);
      await sleep(20, new AbortController().signal);
      isDone = true;
    },
    capture().log,
  );
  await turns();
  assert.equal(isDone, false);
  await loop[Symbol.asyncDispose]();
  assert.equal(isDone, true);
});

test('a tick runs at once, never two at a time, and not after the abort', async () => {
  const stop = new AbortController();
  let running = 0;
  let ticks = 0;
  await every(
    0,
    async () => {
      running += 1;
      assert.equal(running, 1);
      await sleep(2, stop.signal);
      running -= 1;
      ticks += 1;
      if (ticks === 5) stop.abort();
    },
    stop.signal,
  );
  assert.equal(ticks, 5);
  await every(0, () => assert.fail('ran after the abort'), stop.signal);
});

test('a tick that throws stops the rhythm, and keepRunning resumes it', async () => {
  const { lines, log } = capture();
  const stop = new AbortController();
  let ticks = 0;
  const tick = async () => {
    ticks += 1;
    if (ticks === 1) throw new Error('first');
    stop.abort();
  };
  await keepRunning('ticks', (signal) => every(1, tick, signal), log, stop.signal);
  assert.equal(ticks, 2);
  assert.equal(lines.length, 1);
});
