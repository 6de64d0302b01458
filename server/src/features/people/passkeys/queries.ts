import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { PasskeyId, PersonId, SessionId } from '../../../platform/values/ids.ts';

/** @param sessionId the session that registers a passkey, or null for a sign-in */
export async function insertCeremony(
  db: Db,
  tokenHash: Buffer,
  sessionId: SessionId | null,
  seconds: number,
): Promise<void> {
  await sql`
    insert into passkey_ceremony (token_hash, session_id, expires_at)
    values (${tokenHash}, ${sessionId}, now() + make_interval(secs => ${seconds}))`.execute(db);
}

/**
 * Consumes a ceremony.
 * @returns false if it has been used, has expired, is unknown, or was started by another session
 */
export async function takeCeremony(
  db: Db,
  tokenHash: Buffer,
  sessionId: SessionId | null,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    delete from passkey_ceremony
    where token_hash = ${tokenHash} and session_id is not distinct from ${sessionId}::text
      and expires_at > now()`.execute(db);
  return numAffectedRows > 0n;
}

/** Deletes at most `limit` expired ceremonies. Returns how many. */
export async function deleteOldCeremonies(tx: Tx, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from passkey_ceremony where token_hash in (
      select token_hash from passkey_ceremony where expires_at < now()
      limit ${limit} for update skip locked)`.execute(tx);
  return Number(numAffectedRows);
}

export type PasskeyRow = {
  passkey_id: PasskeyId;
  name: string;
  credential_id: Buffer;
  transports: string[];
  created_at: Date;
  last_used_at: Date | null;
};

/** Oldest first. */
export async function listPasskeys(db: Db, personId: PersonId): Promise<PasskeyRow[]> {
  const { rows } = await sql<PasskeyRow>`
    select passkey_id, name, credential_id, transports, created_at, last_used_at
    from passkey where person_id = ${personId} order by created_at, passkey_id`.execute(db);
  return rows;
}

export type NewPasskey = {
  readonly passkeyId: PasskeyId;
  readonly personId: PersonId;
  readonly credentialId: Buffer;
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly name: string;
};

/**
 * Locks the person's row, so that concurrent requests can't exceed `limit`.
 * @returns false if the credential already belongs to an account, or the account has `limit`
 *   passkeys
 */
export async function insertPasskey(tx: Tx, passkey: NewPasskey, limit: number): Promise<boolean> {
  const { personId } = passkey;
  await sql`select from person where person_id = ${personId} for update`.execute(tx);
  const { numAffectedRows = 0n } = await sql`
    insert into passkey (passkey_id, person_id, credential_id, public_key, counter, transports, name)
    select ${passkey.passkeyId}, ${personId}, ${passkey.credentialId}, ${passkey.publicKey},
      ${passkey.counter}::bigint, ${[...passkey.transports]}::text[], ${passkey.name}
    where (select count(*) from passkey where person_id = ${personId}) < ${limit}
    on conflict do nothing`.execute(tx);
  return numAffectedRows > 0n;
}

export type Credential = {
  readonly passkeyId: PasskeyId;
  readonly personId: PersonId;
  readonly email: string;
  readonly publicKey: Buffer;
  readonly counter: number;
};

export async function findCredential(db: Db, credentialId: Buffer): Promise<Credential | null> {
  const { rows } = await sql<Credential>`
    select passkey_id as "passkeyId", person_id as "personId", email, public_key as "publicKey",
      counter
    from passkey join person using (person_id)
    where credential_id = ${credentialId}`.execute(db);
  return rows[0] ?? null;
}

/**
 * Updates the counter. An authenticator with a counter increments it each time; one without a
 * counter always sends 0.
 * @returns false if the counter has not increased because another sign-in used this number
 */
export async function usePasskey(db: Db, passkeyId: PasskeyId, counter: number): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update passkey set counter = ${counter}::bigint, last_used_at = now()
    where passkey_id = ${passkeyId}
      and (counter < ${counter}::bigint or (counter = 0 and ${counter}::bigint = 0))`.execute(db);
  return numAffectedRows > 0n;
}

export async function deletePasskey(
  tx: Tx,
  personId: PersonId,
  passkeyId: PasskeyId,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    delete from passkey
    where person_id = ${personId} and passkey_id = ${passkeyId}`.execute(tx);
  return numAffectedRows > 0n;
}

/** @returns how many were deleted */
export async function deletePasskeys(tx: Tx, personId: PersonId): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from passkey where person_id = ${personId}`.execute(tx);
  return Number(numAffectedRows);
}
