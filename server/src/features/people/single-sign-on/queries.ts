import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { PersonId } from '../../../platform/values/ids.ts';

export async function insertStart(db: Db, tokenHash: Buffer, seconds: number): Promise<void> {
  await sql`
    insert into single_sign_on_start (token_hash, expires_at)
    values (${tokenHash}, now() + make_interval(secs => ${seconds}))`.execute(db);
}

/** Consumes a started sign-in. Returns false if it has been used, has expired or is unknown. */
export async function takeStart(db: Db, tokenHash: Buffer): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    delete from single_sign_on_start
    where token_hash = ${tokenHash} and expires_at > now()`.execute(db);
  return numAffectedRows > 0n;
}

/** Deletes at most `limit` expired sign-ins. Returns how many. */
export async function deleteOldStarts(tx: Tx, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from single_sign_on_start where token_hash in (
      select token_hash from single_sign_on_start where expires_at < now()
      limit ${limit} for update skip locked)`.execute(tx);
  return Number(numAffectedRows);
}

/** Serializes sign-ins for an address. */
export async function lockAddress(tx: Tx, email: string): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended(${`single sign-on ${email}`}, 0))`.execute(tx);
}

export type Identity = { readonly issuer: string; readonly subject: string };

export async function findPersonOf(
  db: Db,
  { issuer, subject }: Identity,
): Promise<PersonId | null> {
  const { rows } = await sql<{ id: PersonId }>`
    select person_id as id from person_identity
    where issuer = ${issuer} and subject = ${subject}`.execute(db);
  return rows[0]?.id ?? null;
}

/** @returns false if the person is linked to another subject of this provider */
export async function insertIdentity(
  tx: Tx,
  personId: PersonId,
  { issuer, subject }: Identity,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    insert into person_identity (issuer, subject, person_id)
    values (${issuer}, ${subject}, ${personId}) on conflict do nothing`.execute(tx);
  return numAffectedRows > 0n;
}

/** Invalidates the password: it may have been set by someone who did not own the address. */
export async function clearPassword(tx: Tx, personId: PersonId): Promise<void> {
  await sql`update person set password_hash = null where person_id = ${personId}`.execute(tx);
}
