/**
 * The second factor: authenticator app codes, and ten single-use recovery codes.
 *
 * Setup creates a pending secret, which becomes active when a valid code is submitted. Each code is
 * accepted once: the row stores its time step and is locked during verification.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Tx } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import type { PersonId } from '../../platform/values/ids.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { peopleErrors } from './errors.ts';
import { lockFactors, setFactors } from './factor-queries.ts';
import { base32, matchingStep, totpUrl } from './totp.ts';

const secretBytes = 20;
const recoveryCodes = 10;
/** 50 bits: ten base32 digits. */
const recoveryBytes = 10;

const contextOf = (personId: string): string => `second factor ${personId}`;

/** Creates a secret that becomes active once one of its codes is submitted. */
export async function beginTotp(
  tx: Tx,
  vault: Vault,
  { personId, email }: { personId: PersonId; email: string },
): Promise<{ secret: string; url: string }> {
  const secret = randomBytes(secretBytes);
  const pending = vault.seal(secret.toString('hex'), contextOf(personId));
  await setFactors(tx, personId, { pending });
  return { secret: base32(secret), url: totpUrl(secret, email) };
}

/**
 * Turns the second factor on.
 * @returns the recovery codes, which can't be retrieved again
 * @throws {ApiError} SECOND_FACTOR_FAILED
 */
export async function confirmTotp(
  tx: Tx,
  vault: Vault,
  personId: PersonId,
  code: string,
): Promise<string[]> {
  const { pending } = await lockFactors(tx, personId);
  if (pending === null)
    throw new ApiError('CONFLICT', { message: 'Start again with a new secret.' });
  const step = stepOf(vault, personId, pending, code, 0);
  if (step === null) throw new ApiError(peopleErrors.SECOND_FACTOR_FAILED);
  const codes = Array.from({ length: recoveryCodes }, newRecoveryCode);
  const recoveryHashes = codes.map(hashRecovery);
  await setFactors(tx, personId, {
    secret: pending,
    pending: null,
    lastStep: step,
    recoveryHashes,
  });
  return codes;
}

export async function removeTotp(tx: Tx, personId: PersonId): Promise<void> {
  await setFactors(tx, personId, { secret: null, pending: null, lastStep: 0, recoveryHashes: [] });
}

/** Verifies and consumes an app code or a recovery code. */
export async function takeSecondFactor(
  tx: Tx,
  vault: Vault,
  personId: PersonId,
  code: string,
): Promise<boolean> {
  const { secret, lastStep, recoveryHashes } = await lockFactors(tx, personId);
  if (secret === null) return false;
  const step = stepOf(vault, personId, secret, code, lastStep);
  if (step !== null) {
    await setFactors(tx, personId, { lastStep: step });
    return true;
  }
  const hash = hashRecovery(code);
  const left = recoveryHashes.filter((one) => !one.equals(hash));
  if (left.length === recoveryHashes.length) return false;
  await setFactors(tx, personId, { recoveryHashes: left });
  return true;
}

function stepOf(
  vault: Vault,
  personId: PersonId,
  sealed: Buffer,
  code: string,
  lastStep: number,
): number | null {
  const secret = Buffer.from(vault.open(sealed, contextOf(personId)), 'hex');
  return matchingStep(secret, code, { nowMs: Date.now(), lastStep });
}

function newRecoveryCode(): string {
  const text = base32(randomBytes(recoveryBytes)).slice(0, 10).toLowerCase();
  return `${text.slice(0, 5)}-${text.slice(5)}`;
}

/** The attempt limit protects 50 random bits from guessing, so no slow hash is needed. */
function hashRecovery(code: string): Buffer {
  const plain = code.replaceAll(/[\s-]/g, '').toLowerCase();
  return createHash('sha256').update(plain).digest();
}
