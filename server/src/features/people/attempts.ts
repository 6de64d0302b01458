/**
 * Rate limits for signing in, accepting an invitation and requesting a new password: a number of
 * attempts per 15 minutes by address, and fewer by account. Counts are exact across all processes.
 * The account is identified by what was typed, so that unknown accounts are counted in the same
 * way.
 */
import { createHash } from 'node:crypto';
import { inTransaction, type Db } from '../../platform/database/database.ts';
import { addressGroup } from '../../platform/http/address-group.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { forgetAttempts, takeAttempt } from './attempt-queries.ts';

const windowSeconds = 900;

export type AttemptLimits = { readonly perAddress: number; readonly perAccount: number };

export const perAccount = 10;

export type Attempts = {
  /** @throws {ApiError} RATE_LIMITED */
  take(kind: 'sign-in' | 'link' | 'reset', address: string, account: string | null): Promise<void>;
  /** Resets the count once someone has proven that they own the account. */
  forget(kind: 'sign-in', account: string): Promise<void>;
};

export function createAttempts(db: Db, limits: AttemptLimits): Attempts {
  async function takeOne(name: string, limit: number): Promise<void> {
    const seconds = await inTransaction(db, (tx) => takeAttempt(tx, name, limit, windowSeconds));
    if (seconds === 0) return;
    throw new ApiError('RATE_LIMITED', {
      message: 'Too many attempts. Try again later.',
      headers: { 'retry-after': String(seconds) },
    });
  }
  return {
    async take(kind, address, account) {
      await takeOne(`${kind} from ${addressGroup(address)}`, limits.perAddress);
      if (account !== null) await takeOne(nameOf(kind, account), limits.perAccount);
    },
    forget: (kind, account) => forgetAttempts(db, nameOf(kind, account)),
  };
}

/** Hashed, so that the table does not list what people typed. */
function nameOf(kind: string, account: string): string {
  return `${kind} of ${createHash('sha256').update(account).digest('base64url')}`;
}
