/**
 * UUIDs of version 7 (RFC 9562), in order of their making within a process. As the library makes
 * them, but with randomness drawn for hundreds at once: asking the system for it each time takes
 * several times as long as all the rest, and each request and many events get an id.
 */
import { randomFillSync } from 'node:crypto';

const pool = new Uint8Array(4_096);
let used = pool.length;
let lastMs = 0;
/** 32 bits behind the milliseconds: they begin at random in each and count up. */
let sequence = 0;

/** Writes the next UUID to the first 16 bytes. */
export function writeUuid7(bytes: Uint8Array): void {
  if (used + 10 > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.subarray(used, used + 10);
  used += 10;
  advance(random);
  bytes[0] = lastMs / 2 ** 40;
  bytes[1] = lastMs / 2 ** 32;
  bytes[2] = lastMs / 2 ** 24;
  bytes[3] = lastMs / 2 ** 16;
  bytes[4] = lastMs / 2 ** 8;
  bytes[5] = lastMs;
  bytes[6] = 0x70 | (sequence >>> 28);
  bytes[7] = sequence >>> 20;
  bytes[8] = 0x80 | ((sequence >>> 14) & 0x3f);
  bytes[9] = sequence >>> 6;
  bytes[10] = (sequence << 2) | ((random[4] ?? 0) & 3);
  bytes.set(random.subarray(5), 11);
}

/** A clock that was set back does not disturb the order: the last moment goes on. */
function advance(random: Uint8Array): void {
  const nowMs = Date.now();
  if (nowMs > lastMs) {
    lastMs = nowMs;
    // The first bit stays free, so that counting has room.
    const [a = 0, b = 0, c = 0, d = 0] = random;
    sequence = ((a & 0x7f) << 24) | (b << 16) | (c << 8) | d;
    return;
  }
  sequence = (sequence + 1) >>> 0;
  if (sequence === 0) lastMs += 1;
}

const bytes = Buffer.alloc(16);

/** The next UUID as text. */
export function newUuid7(): string {
  writeUuid7(bytes);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
