/** Ids: UUID version 7 for content, TypeID (`key_…`, `job_…`) for everything else. */
import { randomBytes } from 'node:crypto';
import { fromString, TypeID } from 'typeid-js';
import { v7 as uuidv7, validate, version } from 'uuid';
import { newUuid7, writeUuid7 } from './uuid7.ts';

export type TypeId<Prefix extends string> = `${Prefix}_${string}`;
export type OrganizationId = TypeId<'org'>;
export type ApiKeyId = TypeId<'key'>;
export type UploadSessionId = TypeId<'upl'>;
export type FeedId = TypeId<'fed'>;
export type RequestId = TypeId<'req'>;
export type BulkJobId = TypeId<'job'>;
export type WebhookId = TypeId<'whk'>;
export type DeliveryId = TypeId<'dlv'>;
/** A UUID in its lower-case text form. */
export type ContentId = `${string}-${string}-${string}-${string}-${string}`;

export function newTypeId<Prefix extends string>(prefix: Prefix): TypeId<Prefix> {
  writeUuid7(uuidBytes);
  return `${prefix}_${encodeSuffix(uuidBytes)}`;
}

const uuidBytes = new Uint8Array(16);
const suffix = Buffer.alloc(26);
const alphabet = Buffer.from('0123456789abcdefghjkmnpqrstvwxyz', 'latin1');

/**
 * The suffix of a TypeID: 128 bits as 26 digits of five bits, with two zero bits in front. Every
 * request gets an id, and the library takes ten times as long for it.
 */
function encodeSuffix(bytes: Uint8Array): string {
  let waiting = 0;
  let bits = 2;
  let length = 0;
  for (const byte of bytes) {
    waiting = (waiting << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      suffix[length] = alphabet[(waiting >> bits) & 31] ?? 0;
      length += 1;
    }
    waiting &= (1 << bits) - 1;
  }
  return suffix.toString('latin1');
}

/**
 * An id that says it was made at `moment` (milliseconds), whatever this process's clock says.
 * The order of such ids as text, byte by byte, is the order of their moments, and of the numbers
 * (32 bits) for those of one moment.
 */
export function newTypeIdAt<Prefix extends string>(
  prefix: Prefix,
  moment: Date,
  number?: number,
): TypeId<Prefix> {
  const msecs = moment.getTime();
  const uuid = uuidv7(number === undefined ? { msecs } : { msecs, seq: number });
  return TypeID.fromUUID(prefix, uuid).toString() as TypeId<Prefix>;
}

/** When an id says that it was made. */
export function momentOfTypeId(id: TypeId<string>): Date {
  const hex = TypeID.fromString(id).toUUID().replaceAll('-', '').slice(0, 12);
  return new Date(Number.parseInt(hex, 16));
}

export function newContentId(): ContentId {
  return newUuid7() as ContentId;
}

/** The content id that a client has sent, in lower case, or null when it has not that form. */
export function parseContentId(raw: string): ContentId | null {
  return validate(raw) && version(raw) === 7 ? (raw.toLowerCase() as ContentId) : null;
}

/** The id of the given kind, or null when the text has another form. */
export function parseTypeId<Prefix extends string>(
  prefix: Prefix,
  raw: string,
): TypeId<Prefix> | null {
  try {
    return fromString(raw, prefix).toString() as TypeId<Prefix>;
  } catch {
    return null;
  }
}

/** A name that cannot be guessed: `bytes` random bytes in base64url. */
export function randomName(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}
