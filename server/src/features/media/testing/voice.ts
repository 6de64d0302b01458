/**
 * Sounds for tests, as samples from -1 to 1 at 16 kHz. The voice is synthesized from pulses of a
 * gliding pitch through three resonators that move from vowel to vowel, with syllables, hissing
 * consonants and pauses.
 */
const sampleRate = 16_000;

/** Formants of a, i, u, e, o in hertz. */
const vowels = [
  [730, 1090, 2440],
  [270, 2290, 3010],
  [300, 870, 2240],
  [530, 1840, 2480],
  [570, 840, 2410],
] as const;

/** A seeded generator, identical in every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function resonator(): (input: number, hertz: number) => number {
  let [before, last] = [0, 0];
  return (input, hertz) => {
    const radius = Math.exp((-Math.PI * 90) / sampleRate);
    const turn = 2 * radius * Math.cos((2 * Math.PI * hertz) / sampleRate);
    const output = input * (1 - radius) + turn * last - radius * radius * before;
    [before, last] = [last, output];
    return output;
  };
}

export function voice(seconds: number, seed = 1): Float32Array {
  const next = random(seed);
  const samples = new Float32Array(seconds * sampleRate);
  const filters = [resonator(), resonator(), resonator()];
  let phase = 0;
  let at = 0;
  while (at < samples.length) {
    const length = Math.round(sampleRate * (0.12 + next() * 0.14));
    const formants = vowels[Math.floor(next() * vowels.length)] ?? vowels[0];
    const pitch = 95 + next() * 70;
    for (let index = 0; index < length && at < samples.length; index += 1, at += 1) {
      const along = index / length;
      phase += (pitch * (1.1 - 0.2 * along)) / sampleRate;
      const pulse = phase >= 1 ? 1 : 0;
      phase %= 1;
      const source = pulse + (next() - 0.5) * 0.02;
      const loudness = Math.sin(Math.PI * along) ** 0.7;
      const sound = filters.reduce((sum, filter, n) => sum + filter(source, formants[n] ?? 0), 0);
      samples[at] = sound * loudness * 4;
    }
    const isPause = next() < 0.15;
    const rest = Math.round(sampleRate * (isPause ? 0.35 : 0.05));
    for (let index = 0; index < rest && at < samples.length; index += 1, at += 1) {
      samples[at] = isPause ? 0 : (next() - 0.5) * 0.05;
    }
  }
  return samples;
}

export function noise(seconds: number, level = 0.3): Float32Array {
  const next = random(7);
  return Float32Array.from({ length: seconds * sampleRate }, () => (next() - 0.5) * 2 * level);
}

export function tone(seconds: number, hertz: number, level = 0.3): Float32Array {
  return Float32Array.from({ length: seconds * sampleRate }, (_, index) => {
    return level * Math.sin((2 * Math.PI * hertz * index) / sampleRate);
  });
}

/** A 16-bit mono WAV file. */
export function wav(samples: Float32Array): Buffer {
  const data = Buffer.alloc(samples.length * 2);
  for (const [index, sample] of samples.entries()) {
    data.writeInt16LE(Math.round(Math.max(-1, Math.min(1, sample)) * 32_767), index * 2);
  }
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + data.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(sampleRate, 24);
  head.writeUInt32LE(sampleRate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}

/** Downsamples audio from 16 kHz to 4 kHz, as the media child does. */
export function decimated(samples: Float32Array): Float32Array {
  return Float32Array.from({ length: Math.floor(samples.length / 4) }, (_, index) => {
    const part = samples.subarray(index * 4, index * 4 + 4);
    return part.reduce((sum, sample) => sum + sample, 0) / 4;
  });
}
