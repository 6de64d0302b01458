/**
 * Says whether sound may hold speech. It answers "no" only where it is sure: silence, noise, tones and
 * hum. Music and rattling may pass for speech, since they pulse like it; what is said then is left to
 * a speech model, or unsaid.
 *
 * Speech is a chain of syllables: voiced stretches of 60 to 900 ms, three to seven in a second, each
 * with a level of its own. A stretch is voiced where the sound repeats itself at the pitch of a voice
 * (normalised autocorrelation of at least 0.6 at a lag between 80 and 400 Hz). A stretch ends where
 * voicing ends, or where the level rises again by 5 dB after it has fallen by 5 dB. Three of them
 * within four seconds may be speech. A single short word, and whispering, pass for no speech.
 */

/** Samples per second of what is pushed; enough for a pitch and its first formant. */
export const SPEECH_SAMPLE_RATE = 4_000;

const FRAME = SPEECH_SAMPLE_RATE * 0.04;
const HOP = SPEECH_SAMPLE_RATE * 0.02;
const SHORTEST_LAG = SPEECH_SAMPLE_RATE / 400;
const LONGEST_LAG = SPEECH_SAMPLE_RATE / 80;
const MIN_PERIODICITY = 0.6;
/** In dBFS; below it is silence. */
const MIN_LEVEL_DB = -55;
const SYLLABLE_DIP_DB = 5;
const MIN_SYLLABLE_FRAMES = 3;
const MAX_SYLLABLE_FRAMES = 45;
const WINDOW_FRAMES = 200;
const MIN_SYLLABLES = 3;
/** A one-pole filter takes out what is below a voice: hum, wind, handling. */
const HIGH_PASS = 1 - (2 * Math.PI * 70) / SPEECH_SAMPLE_RATE;

type Syllable = { frames: number; peakDb: number; dipDb: number };

export class SpeechMeter {
  #pending = new Float32Array(0);
  #lastIn = 0;
  #lastOut = 0;
  #frame = 0;
  #syllable: Syllable | null = null;
  #endings: number[] = [];
  #mayBeSpeech = false;

  get mayBeSpeech(): boolean {
    return this.#mayBeSpeech;
  }

  /** Takes the next samples, mono, -1 to 1, at {@link SPEECH_SAMPLE_RATE}. */
  push(samples: Float32Array): void {
    if (this.#mayBeSpeech) return;
    const joined = new Float32Array(this.#pending.length + samples.length);
    joined.set(this.#pending);
    for (const [index, sample] of samples.entries()) {
      this.#lastOut = HIGH_PASS * (this.#lastOut + sample - this.#lastIn);
      this.#lastIn = sample;
      joined[this.#pending.length + index] = this.#lastOut;
    }
    let start = 0;
    for (; start + FRAME + LONGEST_LAG <= joined.length; start += HOP) this.#look(joined, start);
    this.#pending = joined.slice(start);
  }

  #look(samples: Float32Array, start: number): void {
    this.#frame += 1;
    const levelDb = 10 * Math.log10(energy(samples, start) / FRAME + 1e-12);
    if (levelDb < MIN_LEVEL_DB || periodicity(samples, start) < MIN_PERIODICITY) {
      this.#endSyllable();
      return;
    }
    this.#syllable ??= { frames: 0, peakDb: levelDb, dipDb: levelDb };
    const current = this.#syllable;
    current.frames += 1;
    if (levelDb > current.peakDb && current.dipDb > current.peakDb - SYLLABLE_DIP_DB) {
      current.peakDb = levelDb;
      current.dipDb = levelDb;
    }
    current.dipDb = Math.min(current.dipDb, levelDb);
    const hasFallen = current.dipDb <= current.peakDb - SYLLABLE_DIP_DB;
    if (hasFallen && levelDb >= current.dipDb + SYLLABLE_DIP_DB) {
      this.#endSyllable();
      this.#syllable = { frames: 1, peakDb: levelDb, dipDb: levelDb };
    }
  }

  #endSyllable(): void {
    const frames = this.#syllable?.frames ?? 0;
    this.#syllable = null;
    if (frames < MIN_SYLLABLE_FRAMES || frames > MAX_SYLLABLE_FRAMES) return;
    this.#endings.push(this.#frame);
    this.#endings = this.#endings.filter((at) => at > this.#frame - WINDOW_FRAMES);
    this.#mayBeSpeech ||= this.#endings.length >= MIN_SYLLABLES;
  }
}

function energy(samples: Float32Array, start: number): number {
  let sum = 0;
  for (let index = start; index < start + FRAME; index += 1) sum += (samples[index] ?? 0) ** 2;
  return sum;
}

/** How well the frame repeats itself at the best lag of a voice: 1 is exactly, 0 not at all. */
function periodicity(samples: Float32Array, start: number): number {
  const own = energy(samples, start);
  let best = 0;
  for (let lag = SHORTEST_LAG; lag <= LONGEST_LAG; lag += 1) {
    let product = 0;
    for (let index = start; index < start + FRAME; index += 1) {
      product += (samples[index] ?? 0) * (samples[index + lag] ?? 0);
    }
    if (product <= 0) continue;
    best = Math.max(best, product / Math.sqrt(own * energy(samples, start + lag) + 1e-12));
  }
  return best;
}
