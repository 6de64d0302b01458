/**
 * Passwords: Argon2id (RFC 9106) by Node's own `crypto`, stored as PHC strings. The parameters are the
 * first choice of the OWASP cheat sheet: 19 MiB, two passes, one lane.
 *
 * A check costs the same whether or not there is an account: without one, the password is compared with
 * a hash that nobody knows the password of.
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
/** Each takes 19 MiB and a thread of the pool, which files need as well. */
const maxAtOnce = 2;
const maxWaiting = 50;
let running = 0;
const waiting: (() => void)[] = [];

type Parameters = { memory: number; passes: number; parallelism: number };

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  return format(salt, await compute(password, salt, cost, hashBytes));
}

/** Nobody knows a password with this hash: it is made up. */
const unknownPassword = format(randomBytes(saltBytes), randomBytes(hashBytes));

/** Whether the password is that of the hash; false for null, after the same work. */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const { salt, hash, ...parameters } = parse(stored ?? unknownPassword);
  const computed = await compute(password, salt, parameters, hash.length);
  return timingSafeEqual(computed, hash) && stored !== null;
}

/** @throws ApiError VALIDATION_ERROR for one that is too short or too easy to guess */
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
  throw fieldError('password', 'is too easy to guess: take four random words, for example');
}

/** A long password of little else than these is among the first that are guessed. */
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
  if (match === null) throw new Error('A stored password has an unknown form.');
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
    // One person types the same password in two forms of Unicode on two systems.
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
  // The place is handed on by the one who leaves.
  await new Promise<void>((resolve) => waiting.push(resolve));
}

function leave(): void {
  const next = waiting.shift();
  if (next === undefined) running -= 1;
  else next();
}
