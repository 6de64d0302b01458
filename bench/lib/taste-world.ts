/**
 * A library and an audience with hidden tastes, made from a seed: the model of the demo's viewers.
 * What a viewer does with a clip follows from the two and the visit alone, so that feeds of any order
 * can be compared.
 */
import { sql } from 'kysely';
import { decide, type Decision } from '../../server/src/cli/demo/decisions.ts';
import type { FeedClip } from '../../server/src/cli/demo/feed-clips.ts';
import { randomFrom, type Random } from '../../server/src/cli/demo/random.ts';
import { appealOf } from '../../server/src/cli/demo/taste.ts';
import { makeViewer, type DemoViewer } from '../../server/src/cli/demo/viewers.ts';
import type { Db } from '../../server/src/platform/database/database.ts';

export type Clip = FeedClip & { readonly author: string; readonly ageHours: number };

export type World = {
  readonly seed: string;
  readonly viewers: readonly DemoViewer[];
  /** In the library from the beginning. */
  readonly clips: Clip[];
  readonly random: Random;
};

const tagCount = 40;
const authorCount = 60;
/** As fast as new clips come in while the feed is rated. */
export const clipsPerDay = 12;

export function makeWorld(seed: string, size: { viewers: number; clips: number }): World {
  return {
    seed,
    viewers: Array.from({ length: size.viewers }, (_, n) => makeViewer(`${seed}-viewer-${n}`)),
    clips: Array.from({ length: size.clips }, (_, n) => {
      const random = randomFrom(`${seed} age ${n}`);
      const oldestHours = (size.clips / clipsPerDay) * 24;
      return makeClip(seed, `clip-${n}`, random() * oldestHours);
    }),
    random: randomFrom(`${seed} order`),
  };
}

/** A clip without an id yet: the database gives it. */
export function makeClip(seed: string, name: string, ageHours: number): Clip {
  const random = randomFrom(`${seed} ${name}`);
  const pick = (count: number) => Math.floor(random() * count);
  const author = `author-${pick(authorCount)}`;
  // Creators keep to a few topics, most of the time.
  const own = randomFrom(`${seed} ${author}`);
  const favourites = Array.from({ length: 5 }, () => Math.floor(own() * tagCount));
  const topic = () => (random() < 0.7 ? favourites[pick(5)] : pick(tagCount));
  const tags = new Set(Array.from({ length: 2 + pick(2) }, () => `tag-${topic()}`));
  return {
    id: '',
    title: `${seed} ${name}`,
    tags: [...tags],
    author,
    duration: 8 + pick(50),
    shortSide: 720,
    ageHours,
  };
}

/** Puts clips into the feed, as processing would leave them. @returns them with their ids */
export async function insertClips(db: Db, clips: readonly Clip[]): Promise<Clip[]> {
  const { rows } = await sql<{ content_id: string; title: string }>`
    insert into content (organization_id, content_id, content_type, title, upload_status,
      publish_status, author, tags, duration_seconds, progress, playback_id, media_prefix, created_at)
    select organization_id, uuidv7(), 'video', title, 'ready', 'published', author,
      string_to_array(tags, ','), duration, 1, md5(title), md5(title) || '/0',
      now() - age * interval '1 hour'
    from (select organization_id from organization order by created_at limit 1) first,
      unnest(${clips.map(({ title }) => title)}::text[],
        ${clips.map(({ author }) => author)}::text[],
        ${clips.map(({ tags }) => tags.join())}::text[],
        ${clips.map(({ duration }) => duration)}::float8[],
        ${clips.map(({ ageHours }) => ageHours)}::float8[])
        as given (title, author, tags, duration, age)
    returning content_id, title
  `.execute(db);
  const ids = new Map(rows.map((row) => [row.title, row.content_id]));
  return clips.map((clip) => ({ ...clip, id: ids.get(clip.title) ?? '' }));
}

/** What a viewer does with a clip in a visit, whatever else they are shown. */
export function decisionOf(viewer: DemoViewer, visit: string, clip: FeedClip): Decision {
  return decide(viewer, clip, randomFrom(`${visit} ${clip.title}`));
}

/** How relevant a clip is to a viewer, as a grade from 0 to 4. */
export function gradeOf(viewer: DemoViewer, clip: FeedClip): number {
  return Math.min(4, Math.floor(appealOf(viewer, clip) * 5));
}
