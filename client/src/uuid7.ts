let lastMs = 0;
let sequence = 0;

/**
 * A UUIDv7 (RFC 9562) that is later than all previous ones generated here, because the service's
 * ledger of ids is fastest with ordered ids. Unlike `crypto.randomUUID`, it needs no secure origin.
 */
export function newUuid7(): string {
  const bytes = randomBytes();
  advance(((bytes[6] ?? 0) << 8) | (bytes[7] ?? 0));
  const time = lastMs.toString(16).padStart(12, '0');
  const count = (0x7000 | sequence).toString(16);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const random = Array.from(bytes.subarray(8), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
  return `${time.slice(0, 8)}-${time.slice(8)}-${count}-${random.slice(0, 4)}-${random.slice(4)}`;
}

/**
 * The 12 bits after the milliseconds start at a random value in each millisecond, leaving at least
 * half of the range for counting.
 */
function advance(random: number): void {
  const nowMs = Date.now();
  if (nowMs > lastMs) {
    lastMs = nowMs;
    sequence = random & 0x7ff;
    return;
  }
  // Setting the clock back does not affect the order.
  sequence = (sequence + 1) & 0xfff;
  if (sequence === 0) lastMs += 1;
}

/**
 * React Native's engine has no `crypto`. An id must be unique but need not be secret, so ordinary
 * random numbers suffice there.
 */
function randomBytes(): Uint8Array {
  const bytes = new Uint8Array(16);
  if (typeof crypto === 'object') return crypto.getRandomValues(bytes);
  return bytes.map(() => Math.floor(Math.random() * 256));
}
