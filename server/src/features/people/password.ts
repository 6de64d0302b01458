/**
 * Password hashing with Argon2id (RFC 9106) from Node's `crypto`, stored as PHC strings. The
 * parameters are the first recommendation of the OWASP cheat sheet: 19 MiB, two passes, one lane.
 *
 * Verification takes equally long for unknown accounts: the password is compared with a random
 * hash.
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { ApiError, fieldError } from '../../platform/http/errors.ts';

const derive = promisify(argon2);

export const minPasswordCharacters = 12;
export const maxPasswordCharacters = 256;

const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const hashBytes = 32;
const saltBytes = 16;
/** Each hash takes 19 MiB and a thread of the pool that file access also needs. */
const maxAtOnce = 2;
const maxWaiting = 50;
let running = 0;
const waiting: (() => void)[] = [];

type Parameters = { memory: number; passes: number; parallelism: number };

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  return format(salt, await compute(password, salt, cost, hashBytes));
}

/** A random hash that no known password matches. */
const unknownPassword = format(randomBytes(saltBytes), randomBytes(hashBytes));

/** Whether the password matches the hash. False for null, after the same amount of work. */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const { salt, hash, ...parameters } = parse(stored ?? unknownPassword);
  const computed = await compute(password, salt, parameters, hash.length);
  return timingSafeEqual(computed, hash) && stored !== null;
}

/** @throws {ApiError} VALIDATION_ERROR if the password is too short or too easy to guess */
export function checkPassword(password: string, email: string): void {
  const plain = password.normalize('NFKC').toLowerCase();
  if (password.length < minPasswordCharacters) {
    throw fieldError('password', `must have at least ${minPasswordCharacters} characters`);
  }
  const [local = ''] = email.split('@');
  const isOneCharacter = new Set(plain).size < 5;
  const isOfAccount = plain.includes(email) || (local.length > 3 && plain === local.repeat(2));
  const isCommon = commonParts.some((part) => plain.replaceAll(part, '').length < 6);
  if (!isOneCharacter && !isOfAccount && !isCommon) return;
  throw fieldError('password', 'is too easy to guess: use four random words, for example');
}

/** A long password that consists mostly of these is among the first guesses. */
const commonParts = [
  'password',
  'passwort',
  '123456',
  'qwerty',
  'qwertz',
  'reelfeed',
  'letmein',
  'welcome',
];

function format(salt: Buffer, hash: Buffer): string {
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(hash)}`;
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

function parse(stored: string): Parameters & { salt: Buffer; hash: Buffer } {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(stored);
  if (match === null) throw new Error('A stored password hash has an unknown format.');
  const [, memory, passes, parallelism, salt = '', hash = ''] = match;
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  };
}

async function compute(
  password: string,
  nonce: Buffer,
  { memory, passes, parallelism }: Parameters,
  tagLength: number,
): Promise<Buffer> {
  await enter();
  try {
    // Different systems encode the same typed password in different Unicode forms.
    const message = Buffer.from(password.normalize('NFKC'), 'utf8');
    return await derive('argon2id', { message, nonce, memory, passes, parallelism, tagLength });
  } finally {
    leave();
  }
}

async function enter(): Promise<void> {
  if (running < maxAtOnce) {
    running += 1;
    return;
  }
  if (waiting.length >= maxWaiting) throw new ApiError('UNAVAILABLE');
  // A finished call passes its place on to the next one.
  await new Promise<void>((resolve) => waiting.push(resolve));
}

function leave(): void {
  const next = waiting.shift();
  if (next === undefined) running -= 1;
  else next();
}
