/**
 * Detects whether audio may contain speech. The answer is "no" only if that is certain, as for
 * silence, noise, tones and hum. Music and rattling may pass for speech, because they have a
 * similar rhythm; a speech model decides about those.
 *
 * Speech is a chain of syllables: voiced stretches of 60 to 900 ms, three to seven per second, each
 * with its own level. A stretch is voiced if the signal repeats at the pitch of a voice (normalized
 * autocorrelation of at least 0.6 at a lag between 80 and 400 Hz). A stretch ends when voicing
 * ends, or when the level rises by 5 dB after falling by 5 dB. Three stretches within four seconds
 * may be speech. A single short word and whispering are not detected.
 */

/** Sample rate of the input; enough for a pitch and its first formant. */
export const SPEECH_SAMPLE_RATE = 4_000;

const FRAME = SPEECH_SAMPLE_RATE * 0.04;
const HOP = SPEECH_SAMPLE_RATE * 0.02;
const SHORTEST_LAG = SPEECH_SAMPLE_RATE / 400;
const LONGEST_LAG = SPEECH_SAMPLE_RATE / 80;
const MIN_PERIODICITY = 0.6;
/** In dBFS; anything below is silence. */
const MIN_LEVEL_DB = -55;
const SYLLABLE_DIP_DB = 5;
const MIN_SYLLABLE_FRAMES = 3;
const MAX_SYLLABLE_FRAMES = 45;
const WINDOW_FRAMES = 200;
const MIN_SYLLABLES = 3;
/** A one-pole filter that removes hum, wind and handling noise below the range of a voice. */
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

  /** Processes the next mono samples (-1 to 1) at {@link SPEECH_SAMPLE_RATE}. */
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

/** Periodicity of the frame at the best lag for a voice, from 0 (none) to 1 (exact). */
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
