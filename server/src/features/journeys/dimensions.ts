/**
 * Dimensions for breakdowns and filters: properties of each event, of its item now, and of its
 * viewer.
 */
import { Type, type Static } from 'typebox';
import { fieldError } from '../../platform/http/errors.ts';
import { OneOf } from '../../platform/http/schemas.ts';
import { filterQuery, variantReader } from '../analytics/analytics.ts';
import { isCountry } from '../events/events.ts';
import type { Asking } from './answers.ts';
import { countryCode, devices, itemKey, type Chunk, type ItemKey } from './chunk.ts';
import type { Names } from './names.ts';
import { selectItemLabels } from './queries.ts';
import type { Question } from './scan.ts';

const ofEvents = ['device', 'country', 'appVersion'] as const;
const ofItems = ['author', 'section', 'contentType', 'language'] as const;
const dimensions = [...ofEvents, ...ofItems, 'experimentVariant'] as const;
type DimensionName = (typeof dimensions)[number];

/** Values are as shown in the response; '' means unknown. */
export type JourneyDimension =
  | { readonly by: (typeof ofEvents)[number] }
  | { readonly by: 'item'; readonly valueOf: (item: ItemKey) => string }
  | { readonly by: 'viewer'; readonly valueOf: (member: number) => string };

type Wanted = { readonly dimension: JourneyDimension; readonly value: string };
export type Selection = {
  readonly breakdown: JourneyDimension | null;
  /** Only events that match all of these count. */
  readonly wanted: readonly Wanted[];
};

const { device, country, appVersion } = filterQuery;
export const selectionFields = {
  device,
  country,
  appVersion,
  experiment: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'The id of the experiment that `variant` or `experimentVariant` refers to.',
    }),
  ),
  variant: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Only viewers who were exposed to this variant of `experiment`.',
    }),
  ),
};
export const breakdownField = (what: string) => ({
  breakdown: Type.Optional(OneOf(dimensions, what)),
});

type SelectionBody = {
  readonly [name in keyof typeof selectionFields]?: Static<(typeof selectionFields)[name]>;
};

/** @throws ApiError VALIDATION_ERROR */
export async function readSelection(
  asking: Asking,
  body: SelectionBody,
  breakdown: DimensionName | null = null,
): Promise<Selection> {
  const { variant, experiment } = body;
  if ((variant !== undefined || breakdown === 'experimentVariant') !== (experiment !== undefined)) {
    throw fieldError('experiment', 'requires `variant` or a breakdown by `experimentVariant`');
  }
  const wanted: Wanted[] = [];
  for (const name of ofEvents) {
    const value = name === 'country' ? readCountry(body.country) : body[name];
    if (value !== undefined) wanted.push({ dimension: { by: name }, value });
  }
  const variants = experiment === undefined ? null : await findVariants(asking, experiment);
  if (variants !== null && variant !== undefined) {
    if (!variants.ids.includes(variant)) {
      throw fieldError('variant', `must be one of ${variants.ids.join(', ')}`);
    }
    wanted.push({ dimension: variants.dimension, value: variant });
  }
  if (breakdown === null) return { breakdown, wanted };
  if (breakdown === 'experimentVariant') {
    return { breakdown: variants?.dimension ?? null, wanted };
  }
  return { breakdown: await findDimension(asking, breakdown), wanted };
}

function readCountry(given: string | undefined): string | undefined {
  const found = given?.toUpperCase();
  if (found !== undefined && !isCountry(found)) {
    throw fieldError('country', 'must be an ISO 3166-1 alpha-2 country code such as DE');
  }
  return found;
}

async function findVariants({ db, organizationId, variantsOf }: Asking, experiment: string) {
  const variants = await variantsOf(db, organizationId, experiment);
  if (variants === null) throw fieldError('experiment', 'is not the id of an experiment');
  const valueOf = await variantReader(db, organizationId, variants);
  return { ids: variants.ids, dimension: { by: 'viewer', valueOf } as const };
}

async function findDimension(
  { db, organizationId }: Asking,
  name: Exclude<DimensionName, 'experimentVariant'>,
): Promise<JourneyDimension> {
  if (name === 'device' || name === 'country' || name === 'appVersion') return { by: name };
  const labels = await selectItemLabels(db, organizationId, name, null);
  const values = new Map([...labels].map(([id, [value = '']]) => [itemKey(id), value]));
  return { by: 'item', valueOf: (item) => values.get(item) ?? '' };
}

/** Restricts a question to matching events; others are treated as nonexistent. */
export function askOnly(question: Question, wanted: Selection['wanted']): Question {
  if (wanted.length === 0) return question;
  return {
    ...question,
    coder: (chunk, properties, dayStartMs) => {
      const codeOf = question.coder(chunk, properties, dayStartMs);
      const checks = wanted.map(({ dimension, value }) =>
        byValue(chunk, dimension, (found) => found === value),
      );
      return (row) => (checks.every((check) => check(row)) ? codeOf(row) : -1);
    },
  };
}

/** Returns a reader of numbers for the values of a chunk's rows; 0 without a breakdown. */
export function groupReader(
  chunk: Chunk,
  breakdown: JourneyDimension | null,
  names: Names,
): (row: number) => number {
  if (breakdown === null) return () => 0;
  return byValue(chunk, breakdown, (value) => names.numberOf(value));
}

/** Returns a reader of results derived from row values. Each column entry is looked up once. */
function byValue<Result>(
  chunk: Chunk,
  dimension: JourneyDimension,
  resultOf: (value: string) => Result,
): (row: number) => Result {
  const known = new Map<number, Result>();
  const { column, valueOf } = columnOf(chunk, dimension);
  return (row) => {
    const entry = column[row] ?? 0;
    const before = known.get(entry);
    if (before !== undefined) return before;
    const found = resultOf(valueOf(entry));
    known.set(entry, found);
    return found;
  };
}

type Column = {
  readonly column: ArrayLike<number>;
  readonly valueOf: (entry: number) => string;
};

function columnOf({ columns, versions, items }: Chunk, dimension: JourneyDimension): Column {
  switch (dimension.by) {
    case 'device':
      return { column: columns.device, valueOf: (entry) => devices[entry] ?? '' };
    case 'country':
      return { column: columns.country, valueOf: countryCode };
    case 'appVersion':
      return { column: columns.version, valueOf: (entry) => versions[entry] ?? '' };
    case 'item':
      return { column: columns.item, valueOf: (entry) => dimension.valueOf(items[entry] ?? '') };
    case 'viewer':
      return { column: columns.member, valueOf: dimension.valueOf };
  }
}
