/**
 * Keys of the deduplication ledger: 16 bytes derived from organization and event id, never from a
 * time. An event that is sent again with an adjusted timestamp is therefore still the same event.
 *
 * UUIDs are XORed with a mask of their organization, so time-ordered ids stay adjacent in the
 * index, which keeps the index fast. Any other id is hashed. UUIDs are case-insensitive, other ids
 * are case-sensitive.
 */
import { createHash } from 'node:crypto';

export const keyBytes = 16;

/** An organization's part of its keys. Worth caching, because it takes a hash to compute. */
export type KeyScope = { readonly organizationId: string; readonly mask: Uint8Array };

export function keyScope(organizationId: string): KeyScope {
  const mask = createHash('sha256').update(`event-keys\0${organizationId}`).digest();
  return { organizationId, mask: mask.subarray(0, keyBytes) };
}

/** Writes the key of an event to `target` at `offset`. */
export function writeEventKey(
  scope: KeyScope,
  eventId: string,
  target: Uint8Array,
  offset: number,
): void {
  if (eventId.length === 36 && writeUuid(eventId, scope.mask, target, offset)) return;
  const hash = createHash('sha256').update(`${scope.organizationId}\0${eventId}`).digest();
  target.set(hash.subarray(0, keyBytes), offset);
}

const dash = 0x2d;
/** The value of each hexadecimal digit by its character code; 255 for everything else. */
const digits = new Uint8Array(128).fill(255);
for (const [value, digit] of Array.from('0123456789abcdef').entries()) {
  digits[digit.charCodeAt(0)] = value;
  digits[digit.toUpperCase().charCodeAt(0)] = value;
}
/** The index of each byte's digits in `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`. */
const places = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const;

/** Writes the masked bytes of a UUID. Returns false if the text is not a UUID. */
function writeUuid(text: string, mask: Uint8Array, target: Uint8Array, offset: number): boolean {
  for (let place = 8; place <= 23; place += 5) if (text.charCodeAt(place) !== dash) return false;
  for (let index = 0; index < keyBytes; index += 1) {
    const place = places[index] ?? 0;
    const high = digits[text.charCodeAt(place)] ?? 255;
    const low = digits[text.charCodeAt(place + 1)] ?? 255;
    if (high === 255 || low === 255) return false;
    target[offset + index] = ((high << 4) | low) ^ (mask[index] ?? 0);
  }
  return true;
}
