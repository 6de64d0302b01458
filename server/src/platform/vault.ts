/** Encryption of secrets at rest: AES-256-GCM with a key that the database never sees. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { ConfigurationError } from './config.ts';

export type Vault = {
  /** `context` binds the ciphertext to its place: it opens only with the same text. */
  seal(plain: string, context: string): Buffer;
  /** @throws Error when the bytes were made by another key, for another context, or damaged */
  open(sealed: Buffer, context: string): string;
};

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const formatVersion = 1;

export function createVault(key: Buffer): Vault {
  return {
    seal(plain, context) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(formatVersion), nonce, cipher.getAuthTag(), body]);
    },
    open(sealed, context) {
      if (sealed[0] !== formatVersion) throw new Error('The sealed value has an unknown format.');
      const nonce = sealed.subarray(1, 1 + nonceBytes);
      const tag = sealed.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes);
      const body = sealed.subarray(1 + nonceBytes + tagBytes);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce)
        .setAAD(Buffer.from(context))
        .setAuthTag(tag);
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
    },
  };
}

/**
 * The encryption key: `REELFEED_ENCRYPTION_KEY`, else the file `encryption.key` of the data
 * directory, which the first start makes.
 */
export async function loadEncryptionKey(given: string | null, dataDir: string): Promise<Buffer> {
  if (given !== null) return decodeKey(given, 'REELFEED_ENCRYPTION_KEY');
  const file = path.join(dataDir, 'encryption.key');
  try {
    return decodeKey(await readFile(file, 'utf8'), file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return createKeyFile(file);
}

async function createKeyFile(file: string): Promise<Buffer> {
  const key = randomBytes(keyBytes);
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(`${key.toString('base64')}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return key;
}

function decodeKey(text: string, source: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length !== keyBytes) {
    throw new ConfigurationError(
      `${source} must hold ${keyBytes} bytes in base64, such as \`openssl rand -base64 32\` prints.`,
    );
  }
  return key;
}
