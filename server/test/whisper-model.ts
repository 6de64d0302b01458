/**
 * A synthetic whisper model that recognizes the same words in everything. Its decoder has one layer
 * without effect, so its output depends only on the position. This is enough to run the real
 * loading, detection and transcription without downloading weights.
 *
 * The layout is that of whisper.cpp's `convert-pt-to-ggml.py`: magic, numbers, mel filters,
 * vocabulary, tensors.
 */
import { writeFile } from 'node:fs/promises';

const vocabularySize = 51_865;
const audioPositions = 1_500;
const textPositions = 448;
const state = 64;
const heads = 1;
const mels = 80;
const fftBins = 201;

/** Tokens of the multilingual vocabulary. */
const endOfText = 50_257;
const firstLanguage = 50_259;
const firstTimestamp = 50_364;
/** Whisper's language order. */
const languages = ['en', 'zh', 'de', 'es', 'ru', 'ko', 'fr', 'ja'];
const firstWord = 1_000;
/** Matrices are stored in half precision, vectors and positions in single precision. */
const halfPrecision = 1;
const tenAsHalf = 0x4900;

type Spoken = { language: string; words: readonly string[]; seconds: number };

/** Writes a model that recognizes `words` in `language`, lasting `seconds`, in any audio. */
export async function writeWhisperModel(
  file: string,
  { language, words, seconds }: Spoken,
): Promise<void> {
  const vocabulary = new Map([
    // The sampler looks this one up.
    [220, ' '],
    ...words.map((word, index): [number, string] => [firstWord + index, ` ${word}`]),
  ]);
  // After the start, the language and the task at positions 0 to 2 come the words.
  const said = new Map<number, number>([
    [0, firstLanguage + languages.indexOf(language)],
    [2, firstTimestamp],
    ...words.map((_, index): [number, number] => [3 + index, firstWord + index]),
    [3 + words.length, firstTimestamp + Math.round(seconds * 50)],
    [4 + words.length, endOfText],
  ]);
  await writeFile(file, Buffer.concat([header(), names(vocabulary), ...tensors(said)]));
}

function ints(...values: number[]): Buffer {
  return Buffer.from(Int32Array.from(values).buffer);
}

function header(): Buffer {
  return Buffer.concat([
    ints(0x67676d6c, vocabularySize, audioPositions, state, heads, 1),
    ints(textPositions, state, heads, 1, mels, halfPrecision),
    ints(mels, fftBins),
    Buffer.alloc(mels * fftBins * 4),
  ]);
}

function names(vocabulary: ReadonlyMap<number, string>): Buffer {
  const words = Array.from({ length: endOfText }, (_, token) => {
    const word = Buffer.from(vocabulary.get(token) ?? `t${token}`);
    return Buffer.concat([ints(word.length), word]);
  });
  return Buffer.concat([ints(endOfText), ...words]);
}

/** A tensor; zeros unless values are given. */
function tensor(
  name: string,
  shape: readonly number[],
  values: Float32Array | Uint16Array = new Float32Array(shape.reduce((a, b) => a * b, 1)),
): Buffer {
  const type = values instanceof Uint16Array ? halfPrecision : 0;
  const bytes = Buffer.from(values.buffer);
  return Buffer.concat([ints(shape.length, name.length, type, ...shape), Buffer.from(name), bytes]);
}

function matrix(name: string, ...shape: number[]): Buffer {
  return tensor(name, shape, new Uint16Array(shape.reduce((a, b) => a * b, 1)));
}

function* tensors(said: ReadonlyMap<number, number>): Generator<Buffer> {
  const ones = () => new Float32Array(state).fill(1);
  function* pair(name: string, from: number, to: number): Generator<Buffer> {
    yield matrix(`${name}.weight`, from, to);
    yield tensor(`${name}.bias`, [to]);
  }
  function* norm(name: string): Generator<Buffer> {
    yield tensor(`${name}.weight`, [state], ones());
    yield tensor(`${name}.bias`, [state]);
  }
  function* attention(name: string): Generator<Buffer> {
    yield* norm(`${name}_ln`);
    yield* pair(`${name}.query`, state, state);
    yield matrix(`${name}.key.weight`, state, state);
    yield* pair(`${name}.value`, state, state);
    yield* pair(`${name}.out`, state, state);
  }
  function* block(name: string): Generator<Buffer> {
    yield* norm(`${name}.mlp_ln`);
    yield* pair(`${name}.mlp.0`, state, 4 * state);
    yield* pair(`${name}.mlp.2`, 4 * state, state);
    yield* attention(`${name}.attn`);
  }
  yield tensor('encoder.positional_embedding', [state, audioPositions]);
  yield matrix('encoder.conv1.weight', 3, mels, state);
  yield tensor('encoder.conv1.bias', [1, state]);
  yield matrix('encoder.conv2.weight', 3, state, state);
  yield tensor('encoder.conv2.bias', [1, state]);
  yield* norm('encoder.ln_post');
  yield* block('encoder.blocks.0');
  // Position p activates dimension p, which selects the token for p. The input token activates a
  // dimension too, ten times weaker.
  const positions = new Float32Array(state * textPositions);
  const embedding = new Uint16Array(state * vocabularySize);
  for (const [position, token] of said) {
    positions[position * state + position] = 100;
    embedding[token * state + position] = tenAsHalf;
  }
  yield tensor('decoder.positional_embedding', [state, textPositions], positions);
  yield tensor('decoder.token_embedding.weight', [state, vocabularySize], embedding);
  yield* norm('decoder.ln');
  yield* block('decoder.blocks.0');
  yield* attention('decoder.blocks.0.cross_attn');
}
