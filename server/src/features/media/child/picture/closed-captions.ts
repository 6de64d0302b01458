/**
 * Closed captions embedded in pictures: CEA-608 bytes in A/53 user data (ATSC A/53 part 4, 6.2.3).
 * Decoders attach them to frames, filters pass them on, and libx264 writes them back into the
 * stream.
 */
import type { Frame } from 'node-av/lib';
import { AV_FRAME_DATA_A53_CC } from 'node-av/constants';

/** One entry: five marker bits, a valid bit, two type bits, then two data bytes. */
const ENTRY_BYTES = 3;
const MARKER_BITS = 0xf8;
const VALID_BIT = 0x04;
const TYPE_BITS = 0x03;
/** The field of line 21 that carries channels CC1 and CC2. */
const FIELD_1 = 0;
const FIELD_2 = 1;
const PARITY_BIT = 0x80;

/** The CC1 and CC2 byte pairs of a frame, without parity bits and padding. */
export function captionPairs(frame: Frame): [number, number][] {
  const data = frame.getSideData(AV_FRAME_DATA_A53_CC);
  const pairs: [number, number][] = [];
  for (let at = 0; data !== null && at + ENTRY_BYTES <= data.length; at += ENTRY_BYTES) {
    const [head = 0, first = 0, second = 0] = data.subarray(at, at + ENTRY_BYTES);
    if ((head & VALID_BIT) === 0 || (head & TYPE_BITS) !== FIELD_1) continue;
    const pair: [number, number] = [first & ~PARITY_BIT, second & ~PARITY_BIT];
    if (pair[0] !== 0 || pair[1] !== 0) pairs.push(pair);
  }
  return pairs;
}

/**
 * Removes the captions from a frame, so that a filter that drops the frame does not hold on to
 * them.
 */
export function removeCaptions(frame: Frame): void {
  frame.removeSideData(AV_FRAME_DATA_A53_CC);
}

/** CC1 control codes: roll-up mode, carriage return, cursor to the start of the last row. */
const ROLL_UP: readonly [number, number][] = [
  [0x14, 0x25],
  [0x14, 0x2d],
  [0x14, 0x70],
];
const PADDING: readonly [number, number] = [0, 0];

function withParity(byte: number): number {
  const ones = byte.toString(2).replaceAll('0', '').length;
  return ones % 2 === 0 ? byte | PARITY_BIT : byte;
}

/** The byte pairs that display `text` as a new row. */
export function rowPairs(text: string): [number, number][] {
  const letters = Buffer.from(text, 'ascii');
  const count = Math.ceil(letters.length / 2);
  const pairs = Array.from({ length: count }, (_, index): [number, number] => [
    letters[index * 2] ?? 0,
    letters[index * 2 + 1] ?? 0,
  ]);
  return [...ROLL_UP, ...pairs];
}

/** At 30 fps, each picture carries a pair for both fields; at higher rates, for one field. */
const PAIRED_RATE = 30;

/** Attaches what a broadcast would: the row's pair, with padding in the second field. */
export function attachPair(
  frame: Frame,
  { pairs, place, rate }: { pairs: readonly [number, number][]; place: number; rate: number },
): void {
  const isPaired = rate <= PAIRED_RATE;
  const pair = pairs[isPaired ? place : Math.floor(place / 2)] ?? PADDING;
  const both = [entry(FIELD_1, pair), entry(FIELD_2, PADDING)];
  const bytes = (isPaired ? both : both.slice(place % 2).slice(0, 1)).flat();
  Buffer.from(bytes).copy(frame.newSideData(AV_FRAME_DATA_A53_CC, bytes.length));
}

function entry(field: number, [first, second]: readonly [number, number]): number[] {
  return [MARKER_BITS | VALID_BIT | field, withParity(first), withParity(second)];
}
