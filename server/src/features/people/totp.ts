/**
 * Time-based one-time passwords (RFC 6238): SHA-1, six digits, 30 seconds, as in authenticator
 * apps.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

const stepSeconds = 30;
const digits = 6;
/** Codes of the adjacent steps are accepted, because clocks differ. */
const toleratedSteps = 1;

/** The code of a time step (RFC 4226, section 5.3). */
export function codeAt(secret: Buffer, step: number, length = digits): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 15;
  const number = mac.readUInt32BE(offset) & 0x7f_ff_ff_ff;
  return String(number % 10 ** length).padStart(length, '0');
}

export function stepAt(nowMs: number): number {
  return Math.floor(nowMs / 1_000 / stepSeconds);
}

/**
 * The time step of a code if it is later than the last accepted one, or null if the code is wrong
 * or used.
 */
export function matchingStep(
  secret: Buffer,
  code: string,
  { nowMs, lastStep }: { nowMs: number; lastStep: number },
): number | null {
  const given = Buffer.from(code.replaceAll(/\s/g, ''));
  const now = stepAt(nowMs);
  let found: number | null = null;
  for (let step = now - toleratedSteps; step <= now + toleratedSteps; step += 1) {
    const expected = Buffer.from(codeAt(secret, step));
    const isEqual = given.length === expected.length && timingSafeEqual(given, expected);
    if (isEqual && step > lastStep) found ??= step;
  }
  return found;
}

const base32Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Base32 (RFC 4648) without padding; the number of bits must be a multiple of five. */
export function base32(bytes: Buffer): string {
  let text = '';
  let value = 0;
  let bits = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xf_ff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += base32Digits[(value >> bits) & 31] ?? '';
    }
  }
  return text;
}

/** The content of the QR code for authenticator apps. */
export function totpUrl(secret: Buffer, email: string): string {
  const label = `Reelfeed:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=Reelfeed`;
}
