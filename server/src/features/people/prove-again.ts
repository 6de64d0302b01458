import { ApiError, fieldError } from '../../platform/http/errors.ts';
import type { Client } from '../../platform/http/client-address.ts';
import type { Principal, SignedIn } from '../../platform/http/principal.ts';
import type { PersonId } from '../../platform/values/ids.ts';
import { provePerson, type ProofParts } from './accounts.ts';
import { findAccountById, type AccountRow } from './queries.ts';

/** @throws {ApiError} FORBIDDEN */
export function signedIn({ person }: Principal): SignedIn {
  if (person === null) throw new ApiError('FORBIDDEN');
  return person;
}

type Asked = {
  readonly client: Client;
  readonly body: { readonly password: string; readonly code?: string | undefined };
};

/**
 * Asks for the password again before an account is changed: an unattended browser must not be
 * enough. A wrong password is reported as a field error, because a 401 would mean that the session
 * has ended.
 */
export async function proveAgain(
  parts: ProofParts,
  personId: PersonId,
  { client: { address }, body: { password, code } }: Asked,
): Promise<AccountRow> {
  const account = await findAccountById(parts.db, personId);
  if (account === null) throw new ApiError('UNAUTHORIZED');
  const { email } = account;
  return provePerson(parts, { email, password, code, address }).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.statusCode !== 401) throw error;
    throw fieldError(error.code === 'SIGN_IN_FAILED' ? 'password' : 'code', error.message);
  });
}
