/**
 * The texts behind the label hashes in facts, for reports that list them. Only known labels
 * (`events/labels.ts`) and normalized error messages have a stored text. Like facts, the texts are
 * kept forever.
 */
import { sql } from 'kysely';
import { bytesArray, textArray } from '../../../platform/database/binary-arrays.ts';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { Viewer } from '../../../platform/feature/feature.ts';
import { labelOf, otherLabel, type LabelField } from '../../events/events.ts';
import type { EngagementChanges } from '../projections/engagement/follower.ts';
import { earlierLabel, textOfHash } from '../projections/engagement/label.ts';
import type { Hash } from '../statistics/viewer-key.ts';

const ofViews = [
  'appVersion',
  'feedId',
  'sharePlatform',
  'rendition',
  'codec',
  'errorCode',
  'errorMessage',
] as const;

/** Fields whose labels are stored in facts as hashes. */
export const labelFields = [
  'entryPoint',
  'appVersion',
  'feedId',
  'sharePlatform',
  'rendition',
  'codec',
  'errorCode',
] as const satisfies readonly LabelField[];

type Name = { readonly organizationId: string; readonly hash: Hash; readonly text: string };

/**
 * The names of labels that are new in their views or sessions. Entry points are left out: they are
 * few and known.
 */
export function namesOf({ views, sessions }: EngagementChanges): Name[] {
  const names = new Map<string, Name>();
  const add = (organizationId: string, hash: Hash) => {
    if (hash === '') return;
    const key = `${organizationId} ${hash}`;
    if (names.has(key)) return;
    const text = textOfHash(hash);
    if (text !== undefined) names.set(key, { organizationId, hash, text });
  };
  for (const { organizationId, before, after } of views) {
    const [old] = before;
    for (const view of after) {
      for (const field of ofViews) {
        if (old?.[field].value !== view[field].value) add(organizationId, view[field].value);
      }
    }
  }
  for (const { organizationId, before, after } of sessions) {
    for (const { appVersion } of after) {
      if (before[0]?.appVersion.value !== appVersion.value) add(organizationId, appVersion.value);
    }
  }
  return [...names.values()];
}

export async function insertNames(tx: Tx, names: readonly Name[]): Promise<void> {
  if (names.length === 0) return;
  // Sorted, so that two processes writing the same names cannot deadlock.
  const keyOf = ({ organizationId, hash }: Name) => `${organizationId} ${hash}`;
  const sorted = names.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  await sql`
    insert into fact_name (organization_id, hash, text)
    select * from unnest(
      ${textArray(sorted.map(({ organizationId }) => organizationId))}::text[],
      ${bytesArray(sorted.map(({ hash }) => Buffer.from(hash, 'latin1')))}::bytea[],
      ${textArray(sorted.map(({ text }) => text))}::text[])
    on conflict (organization_id, hash) do nothing`.execute(tx);
}

/**
 * All label texts of an organization: either those of feed pages, which are many, or all others.
 */
export async function readNames(
  db: Db,
  organizationId: string,
  { isOfFeeds }: { isOfFeeds: boolean },
): Promise<ReadonlyMap<Hash, string>> {
  const { rows } = await sql<{ hash: Buffer; text: string }>`
    select hash, text from fact_name
    where organization_id = ${organizationId} and starts_with(text, 'fed_') = ${isOfFeeds}`.execute(
    db,
  );
  return new Map(rows.map(({ hash, text }) => [hash.toString('latin1'), text]));
}

/** Error messages are free text: those that contain the viewer's id are blanked. */
export async function forgetNames(
  tx: Tx,
  { organizationId, userId }: Viewer,
  isFixedLabel: boolean,
): Promise<number> {
  if (isFixedLabel) return 0;
  const id = earlierLabel(userId);
  const { rows } = await sql<{ hash: Buffer; text: string }>`
    select hash, text from fact_name
    where organization_id = ${organizationId} and position(${id} in text) > 0`.execute(tx);
  const gone = rows.filter(({ text }) => text === id || (!isKnownLabel(text) && names(text, id)));
  if (gone.length === 0) return 0;
  await sql`
    delete from fact_name where organization_id = ${organizationId}
      and hash = any(${bytesArray(gone.map(({ hash }) => hash))}::bytea[])`.execute(tx);
  return gone.length;
}

function isKnownLabel(text: string): boolean {
  return labelFields.some((field) => labelOf(field, text) !== otherLabel);
}

/** Whether a text contains the id as a separate word. */
function names(text: string, id: string): boolean {
  const isPart = (character: string | undefined) => /[\p{L}\p{N}]/u.test(character ?? '');
  for (let at = text.indexOf(id); at >= 0; at = text.indexOf(id, at + 1)) {
    if (!isPart(text[at - 1]) && !isPart(text[at + id.length])) return true;
  }
  return false;
}

export async function keepOldNames(tx: Tx, schema: string): Promise<void> {
  await sql`
    insert into ${sql.id(schema, 'fact_name')} (organization_id, hash, text)
    select organization_id, hash, text from fact_name
    on conflict (organization_id, hash) do nothing`.execute(tx);
}
