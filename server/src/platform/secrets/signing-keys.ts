import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Db } from '../database/database.ts';

/** Signs short values. The result is the same in every process of a cluster. */
export type Signer = {
  /** The first `bytes` bytes of HMAC-SHA256; from 8 to 32. */
  sign(data: Buffer | string, bytes: number): Buffer;
  /**
   * Verifies a signature of any length that `sign` can produce. Signatures under 8 bytes are
   * rejected.
   */
  verify(data: Buffer | string, signature: Buffer): boolean;
};

/** Shorter ones could be guessed, and an empty one would match anything. */
const shortestSignatureBytes = 8;

/** The signer with the given name. Its key is created on first use and kept in the database. */
export async function loadSigner(db: Db, name: string): Promise<Signer> {
  await db
    .insertInto('signing_key')
    .values({ name, secret: randomBytes(32) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { secret } = await db
    .selectFrom('signing_key')
    .select('secret')
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  // A key object is five times faster than raw bytes, which would be converted on each call.
  const key = createSecretKey(secret);
  const sign = (data: Buffer | string, bytes: number) =>
    createHmac('sha256', key).update(data).digest().subarray(0, bytes);
  return {
    sign,
    verify: (data, signature) => {
      if (signature.length < shortestSignatureBytes) return false;
      const expected = sign(data, signature.length);
      return expected.length === signature.length && timingSafeEqual(expected, signature);
    },
  };
}
