import { sql } from 'kysely';
import type { Tx } from '../../platform/database/database.ts';
import type { PersonId } from '../../platform/values/ids.ts';

type Factors = {
  readonly secret: Buffer | null;
  readonly pending: Buffer | null;
  readonly lastStep: number;
  readonly recoveryHashes: readonly Buffer[];
};

export async function lockFactors(tx: Tx, personId: PersonId): Promise<Factors> {
  const { rows } = await sql<Factors>`
    select totp_secret as secret, totp_pending as pending, totp_last_step as "lastStep",
      recovery_hashes as "recoveryHashes"
    from person where person_id = ${personId} for update`.execute(tx);
  return rows[0] ?? { secret: null, pending: null, lastStep: 0, recoveryHashes: [] };
}

export async function setFactors(
  tx: Tx,
  personId: PersonId,
  { secret, pending, lastStep, recoveryHashes }: Partial<Factors>,
): Promise<void> {
  await tx
    .updateTable('person')
    .set({
      ...(secret !== undefined && { totp_secret: secret }),
      ...(pending !== undefined && { totp_pending: pending }),
      ...(lastStep !== undefined && { totp_last_step: lastStep }),
      ...(recoveryHashes !== undefined && { recovery_hashes: [...recoveryHashes] }),
    })
    .where('person_id', '=', personId)
    .execute();
}
