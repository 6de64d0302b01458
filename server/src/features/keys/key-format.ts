/**
 * Keys: `rf_sk_` or `rf_pk_`, 43 base62 characters of 256 random bits, and a six-character CRC32
 * checksum of everything before it, so that a mistyped key is rejected without a database query.
 */
import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { KeyType } from './tables.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefixes = { secret: 'rf_sk_', publishable: 'rf_pk_' } as const;
const randomCharacters = 43;
const checksumCharacters = 6;
const pattern = /^rf_(sk|pk)_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;

export function generateKey(type: KeyType): string {
  const random = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), randomCharacters);
  const body = prefixes[type] + random;
  return body + checksum(body);
}

/** The type of a well-formed key with a valid checksum, else null. */
export function keyType(key: string): KeyType | null {
  const match = pattern.exec(key);
  if (match === null) return null;
  const body = key.slice(0, -checksumCharacters);
  if (checksum(body) !== match[3]) return null;
  return match[1] === 'sk' ? 'secret' : 'publishable';
}

/** The part of a key shown in lists: enough to tell keys apart, too little to use one. */
export function keyPrefix(key: string): string {
  return key.slice(0, prefixes.secret.length + 4);
}

/** 256 random bits need no slow hash. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), checksumCharacters);
}

function base62(value: bigint, length: number): string {
  let text = '';
  let rest = value;
  for (let index = 0; index < length; index += 1) {
    text = (alphabet[Number(rest % 62n)] ?? '') + text;
    rest /= 62n;
  }
  return text;
}
