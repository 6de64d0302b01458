/** Encryption of secrets at rest: AES-256-GCM with a key that the database never sees. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { ConfigurationError } from '../settings/settings.ts';
import { base64Bytes } from '../settings/config-values.ts';
import { sync } from '../storage/durable.ts';

export type Vault = {
  /** `context` binds the ciphertext to its place: it can only be opened with the same text. */
  seal(plain: string, context: string): Buffer;
  /** @throws Error if the bytes were sealed with another key or context, or are damaged */
  open(sealed: Buffer, context: string): string;
};

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const formatVersion = 1;
const headerBytes = 1 + nonceBytes + tagBytes;

export function createVault(key: Buffer): Vault {
  return {
    seal(plain, context) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(formatVersion), nonce, cipher.getAuthTag(), body]);
    },
    open(sealed, context) {
      if (sealed[0] !== formatVersion || sealed.length < headerBytes)
        throw new Error('The sealed value has an unknown format.');
      const nonce = sealed.subarray(1, 1 + nonceBytes);
      const tag = sealed.subarray(1 + nonceBytes, headerBytes);
      const body = sealed.subarray(headerBytes);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
        .setAAD(Buffer.from(context))
        .setAuthTag(tag);
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
    },
  };
}

/**
 * The encryption key: `REELFEED_ENCRYPTION_KEY`, otherwise the file `encryption.key` of the data
 * directory, which the first start creates. Any number of processes may call this concurrently; all
 * get the same key.
 *
 * @throws ConfigurationError if the given key, or the one in the file, is malformed
 */
export async function loadEncryptionKey(given: string | null, dataDir: string): Promise<Buffer> {
  const found = await findEncryptionKey(given, dataDir);
  return found?.key ?? createKeyFile(keyFile(dataDir));
}

export function keyFile(dataDir: string): string {
  return path.join(dataDir, 'encryption.key');
}

/**
 * Like `loadEncryptionKey`, but returns null instead of creating a key.
 *
 * @throws ConfigurationError if the file does not contain a key
 */
export async function findEncryptionKey(
  given: string | null,
  dataDir: string,
): Promise<{ key: Buffer; source: string } | null> {
  const source = given === null ? keyFile(dataDir) : 'REELFEED_ENCRYPTION_KEY';
  const key = given === null ? await readKeyFile(source) : decodeKey(given, source);
  return key && { key, source };
}

async function readKeyFile(file: string): Promise<Buffer | null> {
  try {
    return decodeKey(await readFile(file, 'utf8'), file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * The file gets its name only once its content is on disk. A crash at any point leaves the complete
 * key or none, and if several processes do this, the first to name its file wins.
 */
async function createKeyFile(file: string): Promise<Buffer> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(`${randomBytes(keyBytes).toString('base64')}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await link(draft, file).catch(ignoreExisting);
  } finally {
    await rm(draft, { force: true });
  }
  await sync(path.dirname(file));
  return decodeKey(await readFile(file, 'utf8'), file);
}

function ignoreExisting(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
}

function decodeKey(text: string, source: string): Buffer {
  const parsed = base64Bytes(keyBytes)(text);
  if ('problem' in parsed) throw new ConfigurationError(`${source} must hold ${parsed.problem}.`);
  return Buffer.from(parsed.value, 'base64');
}
