/** Proves that the speech meter rejects sounds that are not speech, but never a voice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SpeechMeter } from './child/sound/speech-meter.ts';
import { decimated, noise, tone, voice } from './testing/voice.ts';

function mayBeSpeech(samples: Float32Array, pieceLength = 400): boolean {
  const meter = new SpeechMeter();
  const low = decimated(samples);
  for (let at = 0; at < low.length; at += pieceLength) {
    meter.push(low.subarray(at, at + pieceLength));
  }
  return meter.mayBeSpeech;
}

const mixed = (a: Float32Array, b: Float32Array) =>
  a.map((sample, index) => sample + (b[index] ?? 0));

test('silence, noise, hum and tones hold no speech', () => {
  const chord = mixed(tone(8, 220), mixed(tone(8, 277.2), tone(8, 329.6)));
  const sounds: Record<string, Float32Array> = {
    silence: new Float32Array(16_000 * 8),
    'faint noise': noise(8, 0.001),
    'loud noise': noise(8),
    hum: tone(8, 50),
    'a tone at the pitch of a voice': tone(8, 150),
    'a high tone': tone(8, 1_000),
    'a chord': chord,
    'hum and noise': mixed(tone(8, 100, 0.02), noise(8, 0.2)),
  };
  for (const [name, samples] of Object.entries(sounds)) {
    assert.equal(mayBeSpeech(samples), false, name);
  }
});

test('a voice may be speech, loud or quiet, short, in noise, in pieces of any length', () => {
  for (const seed of [1, 2, 3, 4, 5]) assert.equal(mayBeSpeech(voice(6, seed)), true, `${seed}`);
  assert.equal(mayBeSpeech(voice(2)), true, 'two seconds');
  const quiet = voice(6).map((sample) => sample * 0.03);
  assert.equal(mayBeSpeech(quiet), true, 'quiet');
  assert.equal(mayBeSpeech(mixed(voice(6), noise(6, 0.05))), true, 'in noise');
  const late = new Float32Array(16_000 * 20);
  late.set(voice(3), 16_000 * 16);
  assert.equal(mayBeSpeech(late), true, 'after a long silence');
  for (const length of [1, 37, 4_000]) assert.equal(mayBeSpeech(voice(4), length), true);
});
