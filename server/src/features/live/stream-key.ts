/** Stream keys: what an encoder sends as its stream name. Only hashes are stored. */
import { createHash } from 'node:crypto';
import { randomName } from '../../platform/values/ids.ts';

const prefix = 'rf_live_';
/** 192 random bits need no slow hash. */
const randomBytes = 24;
const form = /^rf_live_[\w-]{32}$/;

export function newStreamKey(): string {
  return prefix + randomName(randomBytes);
}

/** The hash of a well-formed stream key, or null. */
export function hashStreamKey(key: string): Buffer | null {
  return form.test(key) ? createHash('sha256').update(key).digest() : null;
}
