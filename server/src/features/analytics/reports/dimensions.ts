/** The dimensions of breakdowns, and where their values come from. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import { extensionPoint } from '../../../platform/feature/extension-point.ts';
import { fieldError } from '../../../platform/http/errors.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { contentItems } from '../../content/content.ts';
import { otherLabel } from '../../events/events.ts';
import { contentKey, type PackedContentId, type LabelColumn } from '../facts/facts.ts';
import { readNames } from '../facts/names.ts';
import { readPeople } from '../projections/links/link-queries.ts';
import type { SplitDimension } from '../facts/split.ts';

const ofLabels = [
  'appVersion',
  'feedId',
  'sharePlatform',
  'rendition',
  'codec',
  'errorCode',
] as const;
const ofItems = ['author', 'section', 'contentType', 'language', 'tag'] as const;
const ofFacts = ['device', 'country', 'entryPoint', 'position'] as const;

export const dimensions = [...ofFacts, ...ofLabels, ...ofItems, 'experimentVariant'] as const;
export type Dimension = (typeof dimensions)[number];

/** Sessions have these dimensions too; only views have the others. */
const ofSessions: readonly Dimension[] = [
  'device',
  'country',
  'entryPoint',
  'appVersion',
  'experimentVariant',
];

/** The variants of an experiment, and the variant each viewer was exposed to first. */
export type Variants = {
  readonly ids: readonly string[];
  readonly byViewer: ReadonlyMap<number, string>;
};

/** Resolves to null if the experiment does not exist. */
export type VariantsOf = (
  db: Db,
  organizationId: string,
  experimentId: string,
) => Promise<Variants | null>;

/** Registered by the feature that owns experiments. */
export const experimentVariants = extensionPoint<VariantsOf>('variants of viewers');

type Found = { readonly dimension: SplitDimension; readonly ofViews: boolean };

export async function findDimension(
  db: Db,
  organizationId: OrganizationId,
  name: Dimension,
  experiment: string | null,
  variantsOf: VariantsOf,
): Promise<Found> {
  const ofViews = !ofSessions.includes(name);
  if (isOneOf(ofFacts, name)) return { dimension: { by: name }, ofViews };
  if (isOneOf(ofLabels, name)) {
    return { dimension: await findLabels(db, organizationId, name), ofViews };
  }
  if (isOneOf(ofItems, name)) {
    return { dimension: await findItems(db, organizationId, name), ofViews };
  }
  const variants = await variantsOf(db, organizationId, experiment ?? '');
  if (variants === null) throw fieldError('query.experiment', 'is not the id of an experiment');
  const keyOf = await variantReader(db, organizationId, variants);
  return { dimension: { by: 'viewer', keyOf }, ofViews };
}

/**
 * Returns a function that gives a viewer's variant, or '' if it has none. A device has the variant
 * of its user.
 */
export async function variantReader(
  db: Db,
  organizationId: string,
  { byViewer }: Variants,
): Promise<(viewer: number) => string> {
  const people = await readPeople(db, organizationId);
  return (viewer) => byViewer.get(people?.get(viewer) ?? viewer) ?? byViewer.get(viewer) ?? '';
}

function isOneOf<Name extends string>(names: readonly Name[], name: string): name is Name {
  return (names as readonly string[]).includes(name);
}

/** A label whose text was erased or is unknown counts as `other`. */
export async function findLabels(
  db: Db,
  organizationId: OrganizationId,
  column: LabelColumn,
): Promise<SplitDimension> {
  const texts = await readNames(db, organizationId, { isOfFeeds: column === 'feedId' });
  return { by: 'label', column, nameOf: (hash) => texts.get(hash) ?? otherLabel };
}

/** Current attributes of items; deleted items have none. */
async function findItems(
  db: Db,
  organizationId: OrganizationId,
  name: (typeof ofItems)[number],
): Promise<SplitDimension> {
  const column = {
    author: sql`array[item.author]`,
    section: sql`array[item.section]`,
    contentType: sql`array[item.content_type::text]`,
    language: sql`array[item.language]`,
    tag: sql`item.tags`,
  }[name];
  const { rows } = await sql<{ content_id: string; keys: (string | null)[] }>`
    select item.content_id, ${column} as keys from ${contentItems} item
    where item.organization_id = ${organizationId}`.execute(db);
  const keys = new Map<PackedContentId, readonly string[]>();
  for (const row of rows) {
    const known = row.keys.filter((key) => key !== null && key !== '') as string[];
    if (known.length > 0) keys.set(contentKey(row.content_id), [...new Set(known)]);
  }
  return { by: 'item', keysOf: (item) => keys.get(item) ?? unknown };
}

const unknown: readonly string[] = [''];
