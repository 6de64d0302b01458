/** The caption editor preserves the cues that it reads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cueTime, parseCues, problemOfCues, readCueTime, writeCues } from './cues.ts';

const file = `WEBVTT

NOTE not a cue

STYLE
::cue { color: red }

first
00:01.000 --> 00:02.500 line:0
Hello <b>you</b>
and others

1:02:03.004 --> 1:02:04.000
Late
`;

test('cues are read with their times, and written so that they are read back unchanged', () => {
  const cues = parseCues(file);
  assert.deepEqual(cues, [
    { start: 1, end: 2.5, text: 'Hello <b>you</b>\nand others' },
    { start: 3_723.004, end: 3_724, text: 'Late' },
  ]);
  assert.deepEqual(parseCues(writeCues(cues.toReversed())), cues);
  assert.deepEqual(parseCues(file.replaceAll('\n', '\r\n')), cues);
});

test('times are written and read to the millisecond', () => {
  for (const seconds of [0, 0.001, 59.999, 60, 3_599.5, 36_000.25]) {
    assert.equal(readCueTime(cueTime(seconds)), seconds);
  }
  assert.equal(readCueTime('1:23.5'), 83.5);
  assert.equal(readCueTime('7'), 7);
  for (const text of ['', 'a', '1:2:3:4', '-1', '1.2345']) assert.equal(readCueTime(text), null);
});

test('text that would not be read back as the same cue is rejected', () => {
  const good = { start: 1, end: 2, text: 'Good' };
  assert.equal(problemOfCues([good]), null);
  for (const bad of [
    { ...good, end: 1 },
    { ...good, text: ' ' },
    { ...good, text: '1 --> 2' },
  ]) {
    assert.equal(problemOfCues([good, bad])?.at, 1);
  }
  assert.deepEqual(parseCues(writeCues([{ ...good, text: 'one\n\ntwo' }])), [
    { ...good, text: 'one\ntwo' },
  ]);
});
