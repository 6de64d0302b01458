/** Ids: UUID version 7 for content, TypeID (`key_…`, `job_…`) for everything else. */
import { randomBytes } from 'node:crypto';
import { newUuid7, writeUuid7, writeUuid7At } from './uuid7.ts';

export type TypeId<Prefix extends string> = `${Prefix}_${string}`;
export type OrganizationId = TypeId<'org'>;
export type ApiKeyId = TypeId<'key'>;
export type PersonId = TypeId<'per'>;
export type InvitationId = TypeId<'inv'>;
export type SessionId = TypeId<'ses'>;
export type PasskeyId = TypeId<'psk'>;
export type UploadSessionId = TypeId<'upl'>;
export type FeedId = TypeId<'fed'>;
export type RequestId = TypeId<'req'>;
export type BulkJobId = TypeId<'job'>;
export type ImportId = TypeId<'imp'>;
export type WebhookId = TypeId<'whk'>;
export type DeliveryId = TypeId<'dlv'>;
/** A UUID in lower-case text form. */
export type ContentId = `${string}-${string}-${string}-${string}-${string}`;

export function newTypeId<Prefix extends string>(prefix: Prefix): TypeId<Prefix> {
  writeUuid7(uuidBytes);
  return `${prefix}_${encodeSuffix(uuidBytes)}`;
}

const uuidBytes = new Uint8Array(16);
const suffix = Buffer.alloc(26);
const digits = '0123456789abcdefghjkmnpqrstvwxyz';
const alphabet = Buffer.from(digits, 'latin1');

/**
 * The suffix of a TypeID: 128 bits as 26 digits of five bits, preceded by two zero bits
 * (https://github.com/jetify-com/typeid/tree/main/spec).
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
 * An id with the timestamp `moment` (milliseconds), regardless of this process's clock. Compared as
 * text, byte by byte, such ids sort by timestamp and, for equal timestamps, by number (32 bits).
 */
export function newTypeIdAt<Prefix extends string>(
  prefix: Prefix,
  moment: Date,
  number?: number,
): TypeId<Prefix> {
  writeUuid7At(uuidBytes, moment.getTime(), number);
  return `${prefix}_${encodeSuffix(uuidBytes)}`;
}

/** The timestamp in an id: the first 48 bits of its UUID, in milliseconds. */
export function momentOfTypeId(id: TypeId<string>): Date {
  const suffixStart = id.lastIndexOf('_') + 1;
  let milliseconds = 0;
  // Ten digits are 50 bits, of which the first two are always zero.
  for (const digit of id.slice(suffixStart, suffixStart + 10)) {
    milliseconds = milliseconds * 32 + digits.indexOf(digit);
  }
  return new Date(milliseconds);
}

export function newContentId(): ContentId {
  return newUuid7() as ContentId;
}

const uuid7Form = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i;

/** The content id sent by a client, in lower case, or null for anything but a UUID version 7. */
export function parseContentId(raw: string): ContentId | null {
  return uuid7Form.test(raw) ? (raw.toLowerCase() as ContentId) : null;
}

/** The largest UUID has the first digit 7: 26 digits hold two bits more than it needs. */
const suffixForm = /^[0-7][\da-hjkmnp-tv-z]{25}$/;

/** Parses an id of the given kind. Returns null if the text has another form. */
export function parseTypeId<Prefix extends string>(
  prefix: Prefix,
  raw: string,
): TypeId<Prefix> | null {
  const hasForm = raw.startsWith(`${prefix}_`) && suffixForm.test(raw.slice(prefix.length + 1));
  return hasForm ? (raw as TypeId<Prefix>) : null;
}

/** A name that cannot be guessed: `bytes` random bytes in base64url. */
export function randomName(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}
