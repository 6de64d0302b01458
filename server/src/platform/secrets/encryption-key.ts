/**
 * The key that encrypts secrets in the database, and the check that it is the right one.
 *
 * The first start creates a key and stores a check value: a known text, sealed with the key. Every
 * later start opens it, so a lost or swapped key is detected at startup rather than months later by
 * the first webhook that can't be signed.
 */
import { rm } from 'node:fs/promises';
import { sql } from 'kysely';
import { ConfigurationError } from '../settings/settings.ts';
import { inTransaction, type Db } from '../database/database.ts';
import { createVault, findEncryptionKey, keyFile, loadEncryptionKey, type Vault } from './vault.ts';

const checkContext = 'encryption check';
const checkText = 'This key opens the secrets of this database.';

type KeySource = { encryptionKey: string | null; dataDir: string };

/**
 * Opens the vault of a database with the configured key, or creates a key if the database is new.
 *
 * @throws ConfigurationError, in one sentence, if the key is missing, malformed, or not the one
 * that the database's secrets were encrypted with
 */
export async function openVault(db: Db, source: KeySource): Promise<Vault> {
  const sealed = await findCheck(db);
  const given = await findEncryptionKey(source.encryptionKey, source.dataDir);
  if (given === null) {
    if (sealed !== null || (await isInUse(db))) throw missingKey(source.dataDir);
    return makeKey(db, source.dataDir);
  }
  const vault = await keepCheck(db, given.key, sealed);
  if (vault === null) throw wrongKey(given.source);
  return vault;
}

/**
 * Describes the problem with the configured key. Null if the key is right, or nothing has been
 * encrypted yet.
 */
export async function encryptionKeyProblem(db: Db, source: KeySource): Promise<string | null> {
  const sealed = await findCheck(db);
  const given = await findEncryptionKey(source.encryptionKey, source.dataDir);
  if (given === null) return sealed === null ? null : missingKey(source.dataDir).message;
  if (sealed === null || opens(createVault(given.key), sealed)) return null;
  return wrongKey(given.source).message;
}

async function makeKey(db: Db, dataDir: string): Promise<Vault> {
  const vault = await keepCheck(db, await loadEncryptionKey(null, dataDir), null);
  if (vault !== null) return vault;
  // Another process, with another data directory, has created its key first.
  await rm(keyFile(dataDir), { force: true });
  throw missingKey(dataDir);
}

/**
 * Stores the check value if there is none.
 *
 * @returns null if the existing one was made with another key
 */
async function keepCheck(db: Db, key: Buffer, known: Buffer | null): Promise<Vault | null> {
  const vault = createVault(key);
  const sealed = known ?? (await storeCheck(db, vault.seal(checkText, checkContext)));
  return opens(vault, sealed) ? vault : null;
}

function opens(vault: Vault, sealed: Buffer): boolean {
  try {
    return vault.open(sealed, checkContext) === checkText;
  } catch {
    return false;
  }
}

async function findCheck(db: Db): Promise<Buffer | null> {
  const { rows } = await sql<{ sealed: Buffer }>`select sealed from encryption_check`.execute(db);
  return rows[0]?.sealed ?? null;
}

/** @returns the stored check value, which is that of the first process */
async function storeCheck(db: Db, sealed: Buffer): Promise<Buffer> {
  return inTransaction(db, async (tx) => {
    await sql`insert into encryption_check (sealed) values (${sealed}) on conflict do nothing`.execute(
      tx,
    );
    const { rows } = await sql<{ sealed: Buffer }>`select sealed from encryption_check`.execute(tx);
    return rows[0]?.sealed ?? sealed;
  });
}

/**
 * Whether a database from before check values existed may contain secrets, because a service has
 * run on it.
 */
async function isInUse(db: Db): Promise<boolean> {
  const { rows } = await sql`select from signing_key limit 1`.execute(db);
  return rows.length > 0;
}

function missingKey(dataDir: string): ConfigurationError {
  return new ConfigurationError(
    `The key that this database's secrets are encrypted with is missing: put ${keyFile(dataDir)} ` +
      'back from a backup, or set REELFEED_ENCRYPTION_KEY.',
  );
}

function wrongKey(source: string): ConfigurationError {
  return new ConfigurationError(
    `The key in ${source} is not the one that this database's secrets are encrypted with: ` +
      'provide the right key, from a backup or from another process of the cluster.',
  );
}
