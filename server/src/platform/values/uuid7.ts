/**
 * UUIDs of version 7 (RFC 9562), ordered by creation within a process. Random bytes are fetched for
 * hundreds of ids at once: asking the system each time would take several times longer than
 * everything else, and each request and many events get an id.
 */
import { randomFillSync } from 'node:crypto';

const pool = new Uint8Array(4_096);
let used = pool.length;
let lastMs = 0;
/** The 32 bits after the milliseconds: they start at random in each millisecond and count up. */
let sequence = 0;

/** Writes the next UUID to the first 16 bytes. */
export function writeUuid7(bytes: Uint8Array): void {
  const random = drawRandom();
  advance(random);
  write(bytes, { milliseconds: lastMs, number: sequence, random });
}

/**
 * Writes a UUID for a timestamp (milliseconds) to the first 16 bytes. UUIDs of the same timestamp
 * are ordered by their number (32 bits); without a number their order is random.
 */
export function writeUuid7At(bytes: Uint8Array, milliseconds: number, number?: number): void {
  const random = drawRandom();
  write(bytes, { milliseconds, number: number ?? randomNumber(random), random });
}

/** Ten random bytes. The number, if any, replaces the first four. */
function drawRandom(): Uint8Array {
  if (used + 10 > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += 10;
  return pool.subarray(used - 10, used);
}

function write(
  bytes: Uint8Array,
  parts: { milliseconds: number; number: number; random: Uint8Array },
): void {
  const { milliseconds, number, random } = parts;
  bytes[0] = milliseconds / 2 ** 40;
  bytes[1] = milliseconds / 2 ** 32;
  bytes[2] = milliseconds / 2 ** 24;
  bytes[3] = milliseconds / 2 ** 16;
  bytes[4] = milliseconds / 2 ** 8;
  bytes[5] = milliseconds;
  bytes[6] = 0x70 | (number >>> 28);
  bytes[7] = number >>> 20;
  bytes[8] = 0x80 | ((number >>> 14) & 0x3f);
  bytes[9] = number >>> 6;
  bytes[10] = (number << 2) | ((random[4] ?? 0) & 3);
  bytes.set(random.subarray(5), 11);
}

/** If the clock is set back, the last timestamp is reused, so ids stay ordered. */
function advance(random: Uint8Array): void {
  const nowMs = Date.now();
  if (nowMs > lastMs) {
    lastMs = nowMs;
    sequence = randomNumber(random);
    return;
  }
  sequence = (sequence + 1) >>> 0;
  if (sequence === 0) lastMs += 1;
}

/** 31 bits: the first bit stays free, so that the counter has room to grow. */
function randomNumber([a = 0, b = 0, c = 0, d = 0]: Uint8Array): number {
  return ((a & 0x7f) << 24) | (b << 16) | (c << 8) | d;
}

const bytes = Buffer.alloc(16);

/** The next UUID as text. */
export function newUuid7(): string {
  writeUuid7(bytes);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
