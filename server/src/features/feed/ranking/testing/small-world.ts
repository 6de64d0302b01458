/** In-memory items, viewers and choices for tests of ranking. */
import type { EntryFields } from '../../items/feed-entry.ts';
import type { IndexedItem } from '../../items/index-queries.ts';
import { OrganizationIndex } from '../../items/organization-index.ts';
import { emptyEncounter } from '../../viewers/encounter.ts';
import { ViewerProfile, type About } from '../../viewers/viewer-profile.ts';
import type { ChoiceParts } from '../choice.ts';
import { baseConfig } from '../config.ts';
import { EditorialRules } from '../editorial.ts';
import { noFilter } from '../filter.ts';
import { weightedSum } from '../scorer.ts';

export const nowMs = Date.UTC(2026, 10, 1);

/** A plain item. Each higher number is a second newer. */
export function item(serialNumber: number, fields: Partial<EntryFields> = {}): IndexedItem {
  return {
    organizationId: 'org_1',
    isMember: true,
    serialNumber,
    contentId: contentIdOf(serialNumber),
    revision: 1,
    freshSinceMs: nowMs - 10 * 3_600_000 + serialNumber * 1_000,
    publishAtMs: -Infinity,
    expiresAtMs: Infinity,
    contentType: 'video',
    section: null,
    author: null,
    tags: [],
    durationSeconds: 15,
    geo: null,
    ...fields,
  };
}

export function contentIdOf(serialNumber: number): string {
  return `00000000-0000-7000-8000-${String(serialNumber).padStart(12, '0')}`;
}

/** A viewer who has watched items about some topics to the end, and skipped others. */
export function viewerOf(liked: readonly About[], disliked: readonly About[] = []): ViewerProfile {
  const all = [...liked, ...disliked];
  const encounters = all.map((_, number) => {
    const flags = number < liked.length ? completedFlag : leftFlag;
    return [1_000_000 + number, { ...emptyEncounter(), second: nowMs / 1_000, flags }] as const;
  });
  const about = (serialNumber: number) => all[serialNumber - 1_000_000] ?? null;
  return new ViewerProfile(new Map(encounters), about, { nowMs, isIdentified: true });
}

const completedFlag = 2;
const leftFlag = 16;

/** The input of a choice; everything not given is neutral. */
export function partsOf(
  items: readonly IndexedItem[],
  given: Partial<ChoiceParts> = {},
): ChoiceParts {
  const config = given.config ?? baseConfig;
  return {
    index: new OrganizationIndex(items),
    viewer: viewerOf([]),
    config,
    scorer: weightedSum(config.weights),
    rules: new EditorialRules([], nowMs),
    filter: noFilter,
    excludedIds: new Set(),
    canPresent: null,
    country: null,
    nowMs,
    random: Math.random,
    deadline: Infinity,
    ...given,
  };
}
