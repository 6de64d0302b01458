/** Ids: UUID version 7 for content, TypeID (`key_…`, `job_…`) for everything else. */
import { randomBytes } from 'node:crypto';
import { fromString, typeid } from 'typeid-js';
import { v7 as uuidv7, validate, version } from 'uuid';

export type TypeId<Prefix extends string> = `${Prefix}_${string}`;
export type OrganizationId = TypeId<'org'>;
export type ApiKeyId = TypeId<'key'>;
export type UploadSessionId = TypeId<'upl'>;
export type FeedId = TypeId<'fed'>;
export type RequestId = TypeId<'req'>;
/** A UUID in its lower-case text form. */
export type ContentId = `${string}-${string}-${string}-${string}-${string}`;

export function newTypeId<Prefix extends string>(prefix: Prefix): TypeId<Prefix> {
  return typeid(prefix).toString() as TypeId<Prefix>;
}

export function newContentId(): ContentId {
  return uuidv7() as ContentId;
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
