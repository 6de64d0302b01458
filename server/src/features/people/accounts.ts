/** Sign-in with an address and password, plus a code if the account has a second factor. */
import { inTransaction, type Db } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import type { OrganizationId, PersonId } from '../../platform/values/ids.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import type { Attempts } from './attempts.ts';
import { peopleErrors } from './errors.ts';
import { verifyPassword } from './password.ts';
import { findLatestOrganization, findAccount, type AccountRow } from './queries.ts';
import { takeSecondFactor } from './second-factor.ts';

export type ProofParts = { readonly db: Db; readonly vault: Vault; readonly attempts: Attempts };

export type Proof = {
  readonly email: string;
  readonly password: string;
  readonly code?: string | undefined;
  readonly address: string;
};

/**
 * Verifies that someone owns an account. For an unknown account it does the same work and returns
 * the same error.
 * @param proof with the address in lower case
 * @throws {ApiError} SIGN_IN_FAILED, SECOND_FACTOR_REQUIRED, SECOND_FACTOR_FAILED, RATE_LIMITED
 */
export async function provePerson(
  { db, vault, attempts }: ProofParts,
  { email, password, code, address }: Proof,
): Promise<AccountRow> {
  await attempts.take('sign-in', address, email);
  const account = await findAccount(db, email);
  const isRight = await verifyPassword(password, account?.passwordHash ?? null);
  if (account === null || !isRight) throw new ApiError(peopleErrors.SIGN_IN_FAILED);
  if (account.totpSecret !== null) {
    if (code === undefined) throw new ApiError(peopleErrors.SECOND_FACTOR_REQUIRED);
    const isTaken = await inTransaction(db, (tx) =>
      takeSecondFactor(tx, vault, account.personId, code),
    );
    if (!isTaken) throw new ApiError(peopleErrors.SECOND_FACTOR_FAILED);
  }
  await attempts.forget('sign-in', email);
  return account;
}

/** @throws {ApiError} like `provePerson` */
export async function signIn(
  parts: ProofParts,
  proof: Proof,
): Promise<{ personId: PersonId; organizationId: OrganizationId }> {
  const { personId } = await provePerson(parts, proof);
  const organizationId = await findLatestOrganization(parts.db, personId);
  // The last membership was just removed, and the account with it.
  if (organizationId === null) throw new ApiError(peopleErrors.SIGN_IN_FAILED);
  return { personId, organizationId };
}
