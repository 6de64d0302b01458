/** What ranking asks of a viewer. */
import type { Db } from '../../../../platform/database/database.ts';
import type { ViewerIds } from '../../statistics/viewer-key.ts';
import { ViewerSecrets } from '../../../organizations/organizations.ts';
import { viewerKeyOf } from '../../statistics/viewer-keys.ts';
import { fadedWeight, readEncounters } from './profile.ts';
import { selectEncounters, selectTraits } from './viewer-queries.ts';

/** How much a viewer likes something, faded by half every two weeks; negative for dislikes. */
type Weights = ReadonlyMap<string, number>;

export type ViewerAffinities = {
  readonly tags: Weights;
  readonly authors: Weights;
  /** From where the viewer has watched what they liked. */
  readonly countries: Weights;
  /** The items that the viewer has met last, up to 400, with the moment in milliseconds. */
  readonly seen: ReadonlyMap<string, number>;
};

/**
 * What a viewer likes and has seen; under load it is some seconds old. Two reads by primary key: the
 * viewer, and what the items are about. A viewer who is not known likes nothing.
 */
export async function viewerAffinities(
  db: Db,
  organizationId: string,
  ids: ViewerIds,
  nowMs: number,
): Promise<ViewerAffinities> {
  const tags = new Map<string, number>();
  const authors = new Map<string, number>();
  const countries = new Map<string, number>();
  const key = await viewerKeyOf(db, new ViewerSecrets(), organizationId, ids);
  const bytes = key === null ? null : await selectEncounters(db, key);
  const profile = readEncounters(bytes ?? Buffer.alloc(0));
  const telling = [...profile].filter(([, { weight }]) => weight !== 0);
  const contentIds = telling.map(([contentId]) => contentId);
  const traits = contentIds.length === 0 ? [] : await selectTraits(db, organizationId, contentIds);
  const traitsById = new Map(traits.map((one) => [one.contentId, one]));
  for (const [contentId, encounter] of telling) {
    const about = traitsById.get(contentId);
    // Items that were deleted for good say nothing any more.
    if (about === undefined) continue;
    const weight = fadedWeight(encounter, nowMs);
    for (const tag of about.tags) add(tags, tag, weight);
    if (about.author !== null) add(authors, about.author, weight);
    if (weight > 0 && encounter.country !== '') add(countries, encounter.country, weight);
  }
  const seen = new Map([...profile].map(([contentId, { second }]) => [contentId, second * 1_000]));
  return { tags, authors, countries, seen };
}

function add(weights: Map<string, number>, name: string, weight: number): void {
  weights.set(name, (weights.get(name) ?? 0) + weight);
}
