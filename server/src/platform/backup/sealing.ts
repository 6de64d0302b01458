/**
 * Streaming encryption of backup files: AES-256-GCM over chunks of 64 KiB, each with its own tag.
 * The layout follows the STREAM construction (Hoang, Reyhanitabar, Rogaway and Vizár, 2015): the
 * nonce of a chunk contains its number and whether it is the last, so chunks cannot be reordered,
 * dropped or truncated. Each file has its own key, derived from a random salt and the file's name,
 * so files cannot be swapped either.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const magic = Buffer.from('RFS1');
const saltBytes = 16;
const tagBytes = 16;
const nonceBytes = 12;
const chunkBytes = 64 * 1_024;
const algorithm = 'aes-256-gcm';

/** The bytes were not sealed with this key for this file, or were changed afterwards. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/** Encrypts a stream as the file with this name. */
export async function* seal(
  source: AsyncIterable<Uint8Array>,
  key: Buffer,
  name: string,
): AsyncGenerator<Buffer> {
  const salt = randomBytes(saltBytes);
  const fileKey = keyOf(key, salt, name);
  yield Buffer.concat([magic, salt]);
  let number = 0;
  let last: Buffer = Buffer.alloc(0);
  for await (const chunk of chunksOf(source, chunkBytes)) {
    // A chunk is sealed only when the next one shows that it is not the last.
    if (number > 0) yield sealChunk(fileKey, last, number - 1, false);
    last = chunk;
    number += 1;
  }
  yield sealChunk(fileKey, last, Math.max(0, number - 1), true);
}

/**
 * Decrypts such a stream.
 *
 * @throws SealError before yielding any byte that is not authentic
 */
export async function* unseal(
  source: AsyncIterable<Uint8Array>,
  key: Buffer,
  name: string,
): AsyncGenerator<Buffer> {
  let fileKey: Buffer | null = null;
  let number = 0;
  let last: Buffer | null = null;
  for await (const part of sealedParts(source)) {
    if (fileKey === null) {
      if (part.length < magic.length + saltBytes || !part.subarray(0, 4).equals(magic)) {
        throw new SealError(`${name} is not an encrypted backup file.`);
      }
      fileKey = keyOf(key, part.subarray(magic.length), name);
      continue;
    }
    if (last !== null) yield openChunk(fileKey, last, number++, false, name);
    last = part;
  }
  if (fileKey === null || last === null) throw new SealError(`${name} is truncated.`);
  yield openChunk(fileKey, last, number, true, name);
}

function keyOf(key: Buffer, salt: Buffer, name: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, `reelfeed backup file ${name}`, 32));
}

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(nonceBytes);
  nonce.writeBigUInt64BE(BigInt(number));
  nonce.writeUInt8(isLast ? 1 : 0, nonceBytes - 1);
  return nonce;
}

function sealChunk(key: Buffer, plain: Buffer, number: number, isLast: boolean): Buffer {
  const cipher = createCipheriv(algorithm, key, nonceOf(number, isLast));
  const body = cipher.update(plain);
  cipher.final();
  return Buffer.concat([body, cipher.getAuthTag()]);
}

function openChunk(
  key: Buffer,
  sealed: Buffer,
  number: number,
  isLast: boolean,
  name: string,
): Buffer {
  if (sealed.length < tagBytes) throw new SealError(`${name} is truncated.`);
  const nonce = nonceOf(number, isLast);
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
  const plain = decipher.update(sealed.subarray(0, sealed.length - tagBytes));
  try {
    decipher.final();
  } catch (error) {
    throw new SealError(`${name} is damaged or encrypted with another key.`, { cause: error });
  }
  return plain;
}

async function* sealedParts(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const headerBytes = magic.length + saltBytes;
  yield* chunksOf(source, chunkBytes + tagBytes, headerBytes);
}

/** Splits a stream into chunks of equal size; the last one may be shorter. */
async function* chunksOf(
  source: AsyncIterable<Uint8Array>,
  sizeBytes: number,
  firstBytes = sizeBytes,
): AsyncGenerator<Buffer> {
  let wanted = firstBytes;
  let held: Buffer[] = [];
  let heldBytes = 0;
  for await (const bytes of source) {
    let rest = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    while (heldBytes + rest.length >= wanted) {
      const taken = rest.subarray(0, wanted - heldBytes);
      rest = rest.subarray(taken.length);
      yield Buffer.concat([...held, taken]);
      held = [];
      heldBytes = 0;
      wanted = sizeBytes;
    }
    if (rest.length > 0) held.push(rest);
    heldBytes += rest.length;
  }
  if (heldBytes > 0) yield Buffer.concat(held);
}
