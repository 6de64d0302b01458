/**
 * Selects the events of a question: a kind, with conditions on the item and on values of `data`.
 */
import { Type, type Static } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import { fieldError } from '../../platform/http/errors.ts';
import { Closed } from '../../platform/http/schemas.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { filterQuery, findFilteredItems, readFilter } from '../analytics/analytics.ts';
import { isCustomKind } from '../events/events.ts';
import {
  checkCondition,
  fulfils,
  Kind,
  kindsOf,
  propertiesRead,
  selectMetrics,
  Where,
  type Condition,
} from '../metrics/metrics.ts';
import { itemKey, type Chunk, type ItemKey } from './chunk.ts';
import {
  isKeptKey,
  keepsProperties,
  propertyName,
  type Properties,
  type Scalar,
} from './properties.ts';

const { contentId, tag, author, section } = filterQuery;

const conditions = { contentId, tag, author, section, where: Type.Optional(Where) };
export const Matched = Closed({ event: Kind, ...conditions });
export type MatchedBody = Static<typeof Matched>;
/** Events of one kind or of any. */
export const MatchedAny = Closed({ event: Type.Optional(Kind), ...conditions });

export type Matcher = {
  /** Null means any kind. */
  readonly event: string | null;
  /** Null means any item, or none. */
  readonly items: ReadonlySet<ItemKey> | null;
  readonly where: readonly Condition[];
};

/** The kinds and properties that an organization has declared through its metrics. */
export type Declared = {
  readonly kinds: ReadonlySet<string>;
  readonly properties: ReadonlySet<string>;
};

export async function readDeclared(db: Db, organizationId: string): Promise<Declared> {
  const metrics = await selectMetrics(db, organizationId);
  return {
    kinds: new Set(metrics.flatMap(({ definition }) => kindsOf(definition))),
    properties: new Set(
      metrics.flatMap(({ definition }) =>
        propertiesRead(definition).map(({ event, field }) => propertyName(event, field)),
      ),
    ),
  };
}

type Given = { readonly db: Db; readonly organizationId: OrganizationId; declared: Declared };

/** @throws ApiError VALIDATION_ERROR */
export async function readMatcher(
  { db, organizationId, declared }: Given,
  body: Static<typeof MatchedAny>,
  path: string,
): Promise<Matcher> {
  const { event = null, where = [], ...about } = body;
  if (event !== null) checkKind(declared, event, `${path}event`);
  for (const [index, condition] of where.entries()) {
    const at = `${path}where[${index}]`;
    if (event === null) throw fieldError(at, 'requires an `event`');
    checkProperty(declared, { event, field: condition.field }, `${at}.field`);
    checkCondition(condition, `${at}.value`);
  }
  const filter = readFilter(about, path.replace(/\.$/, ''));
  const items = filter === null ? null : await findFilteredItems(db, organizationId, filter);
  return {
    event,
    items: items === null ? null : new Set([...items].map(itemKey)),
    where,
  };
}

/** @throws ApiError VALIDATION_ERROR */
export function checkKind({ kinds }: Declared, event: string, path: string): void {
  if (isCustomKind(event) && !kinds.has(event)) {
    throw fieldError(
      path,
      `must be a known kind: no metric declares ${event}; see POST /v1/metrics`,
    );
  }
}

/** @throws ApiError VALIDATION_ERROR */
export function checkProperty(
  { properties }: Declared,
  { event, field }: { event: string; field: string },
  path: string,
): void {
  if (!keepsProperties(event) || !isKeptKey(field)) {
    throw fieldError(path, `is not stored for ${event}`);
  }
  if (!properties.has(propertyName(event, field))) {
    throw fieldError(
      path,
      `must be a field that a metric of ${event} declares; see POST /v1/metrics`,
    );
  }
}

/** The values of `data` that matchers need. */
export function propertiesNeeded(matchers: readonly Matcher[]): Set<string> {
  return new Set(
    matchers.flatMap(({ event, where }) =>
      event === null ? [] : where.map(({ field }) => propertyName(event, field)),
    ),
  );
}

/** Returns a predicate for the rows of a chunk. */
export function matcherOf(
  { event, items, where }: Matcher,
  chunk: Chunk,
  properties: Properties,
): (row: number) => boolean {
  const { kind, item } = chunk.columns;
  const wanted = event === null ? -1 : chunk.kinds.indexOf(event);
  if (event !== null && wanted < 0) return () => false;
  const isItem = items === null ? null : chunk.items.map((key) => items.has(key));
  const checks = where.map((condition) => {
    const values = valuesOf(properties, propertyName(event ?? '', condition.field));
    return (row: number) => fulfils(condition, values.get(row));
  });
  return (row) =>
    (wanted < 0 || kind[row] === wanted) &&
    (isItem === null || isItem[item[row] ?? 0] === true) &&
    checks.every((check) => check(row));
}

export function valuesOf(properties: Properties, name: string): ReadonlyMap<number, Scalar> {
  const column = properties.get(name);
  return new Map(column?.rows.map((row, index) => [row, column.values[index] ?? false]));
}
