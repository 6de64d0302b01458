/**
 * Libraries and audiences with hidden tastes, generated from a seed. What a viewer does with a clip
 * depends only on the two and the visit, so feeds with any order can be compared. The model shares
 * nothing with the ranking: viewers like topics, which tags reveal only partly or not at all.
 */
import { sql } from 'kysely';
import { randomFrom, type Random } from '../../server/src/cli/demo/random.ts';
import type { Db } from '../../server/src/platform/database/database.ts';

export const worldNames = ['base', 'clickbait', 'sparse', 'drifting', 'untagged'] as const;
export type WorldName = (typeof worldNames)[number];

export type Clip = {
  readonly title: string;
  readonly topic: number;
  readonly quality: number;
  /** Liked at first sight, but soon left. */
  readonly isBait: boolean;
  readonly tags: readonly string[];
  readonly author: string | null;
  readonly duration: number;
  readonly ageHours: number;
  /** Assigned by the database. */
  id: string;
};

export type Watcher = {
  readonly name: string;
  readonly country: string;
  /** Preference for each topic, from 0 to 1, before and after tastes change. */
  readonly interests: readonly (readonly number[])[];
};

export type Decision = {
  readonly watchSeconds: number;
  readonly likes: boolean;
  readonly saves: boolean;
  readonly shares: boolean;
};

export type World = {
  readonly name: WorldName;
  readonly seed: string;
  readonly clips: Clip[];
  readonly viewers: readonly Watcher[];
  readonly visitsBefore: number;
  readonly visitsRated: number;
  /** The visit at which tastes change; Infinity if they do not. */
  readonly driftsAt: number;
};

const topicCount = 8;
const authorCount = 40;
export const clipsPerDay = 12;

export function makeWorld(
  name: WorldName,
  seed: string,
  size: { viewers: number; clips: number; visits: number },
): World {
  const before = name === 'sparse' ? 1 : Math.ceil(size.visits / 3);
  const rated = name === 'sparse' ? 2 : size.visits - before;
  return {
    name,
    seed,
    clips: Array.from({ length: size.clips }, (_, n) => {
      const oldestHours = (size.clips / clipsPerDay) * 24;
      return makeClip(name, seed, `clip-${n}`, randomFrom(`${seed} age ${n}`)() * oldestHours);
    }),
    viewers: Array.from({ length: size.viewers }, (_, n) => makeWatcher(`${seed}-viewer-${n}`)),
    visitsBefore: before,
    visitsRated: rated,
    driftsAt: name === 'drifting' ? before + Math.floor(rated / 2) : Infinity,
  };
}

export function makeClip(world: WorldName, seed: string, name: string, ageHours: number): Clip {
  const random = randomFrom(`${seed} ${name}`);
  const author = `author-${Math.floor(random() * authorCount)}`;
  // Creators mostly keep to one topic.
  const own = Math.floor(randomFrom(`${seed} ${author}`)() * topicCount);
  const topic = random() < 0.7 ? own : Math.floor(random() * topicCount);
  const tags = [`topic-${random() < 0.85 ? topic : Math.floor(random() * topicCount)}`];
  tags.push(`mood-${Math.floor(random() * 6)}`);
  const isPlain = world === 'untagged';
  return {
    id: '',
    title: `${world} ${seed} ${name}`,
    topic,
    quality: random(),
    isBait: world === 'clickbait' && random() < 0.25,
    tags: isPlain ? [] : tags,
    author: isPlain ? null : author,
    duration: 8 + Math.floor(random() * 40),
    ageHours,
  };
}

function makeWatcher(name: string): Watcher {
  const random = randomFrom(name);
  const tastes = () => {
    const interests = Array.from({ length: topicCount }, () => 0.25 + random() * 0.25);
    for (let n = 0; n < 2; n += 1) interests[pick(random)] = 0.85 + random() * 0.15;
    for (let n = 0; n < 3; n += 1) {
      const topic = pick(random);
      if ((interests[topic] ?? 0) < 0.85) interests[topic] = random() * 0.1;
    }
    return interests;
  };
  const countries = ['DE', 'US', 'GB', 'FR'];
  const country = countries[Math.floor(random() * countries.length)] ?? 'DE';
  return { name, country, interests: [tastes(), tastes()] };
}

function pick(random: Random): number {
  return Math.floor(random() * topicCount);
}

/** A viewer's overall preference for a clip, from 0 to 1. */
export function appealOf(world: World, viewer: Watcher, clip: Clip, visit: number): number {
  const interests = viewer.interests[visit >= world.driftsAt ? 1 : 0];
  const appeal = 0.75 * (interests?.[clip.topic] ?? 0) + 0.25 * clip.quality;
  return clip.isBait ? appeal * 0.35 : appeal;
}

/** The relevance of a clip for a viewer, as a grade from 0 to 4. */
export function gradeOf(world: World, viewer: Watcher, clip: Clip, visit: number): number {
  return Math.min(4, Math.floor(appealOf(world, viewer, clip, visit) * 5));
}

/** A viewer's behavior with a clip in a visit, independent of what else is shown. */
export function decisionOf(world: World, viewer: Watcher, clip: Clip, visit: number): Decision {
  const random = randomFrom(`${viewer.name} ${visit} ${clip.title}`);
  const appeal = appealOf(world, viewer, clip, visit);
  const isWhole = random() < appeal;
  const leavesAtOnce = random() < 1 - appeal;
  const watchSeconds = isWhole
    ? clip.duration + 0.2
    : leavesAtOnce
      ? 0.4 + random() * 1.5
      : clip.duration * 0.95 * random();
  // Bait is liked at first sight, before it disappoints.
  const keenness = clip.isBait ? 0.3 : isWhole ? 0.35 * appeal : 0;
  return {
    watchSeconds,
    likes: random() < keenness,
    saves: random() < keenness * 0.2,
    shares: random() < keenness * 0.15,
  };
}

/** Inserts clips into the feed in the state after processing, and assigns their ids. */
export async function insertClips(
  db: Db,
  organizationId: string,
  clips: readonly Clip[],
): Promise<void> {
  const { rows } = await sql<{ content_id: string; title: string }>`
    insert into content (organization_id, content_id, content_type, title, upload_status,
      publish_status, author, tags, duration_seconds, progress, playback_id, media_prefix, created_at)
    select ${organizationId}, uuidv7(), 'video', title, 'ready', 'published', nullif(author, ''),
      array_remove(string_to_array(tags, ','), ''), duration, 1, md5(${organizationId} || title),
      md5(${organizationId} || title) || '/0', now() - age * interval '1 hour'
    from unnest(${clips.map(({ title }) => title)}::text[],
        ${clips.map(({ author }) => author ?? '')}::text[],
        ${clips.map(({ tags }) => tags.join())}::text[],
        ${clips.map(({ duration }) => duration)}::float8[],
        ${clips.map(({ ageHours }) => ageHours)}::float8[])
        as given (title, author, tags, duration, age)
    returning content_id, title
  `.execute(db);
  const ids = new Map(rows.map((row) => [row.title, row.content_id]));
  for (const clip of clips) clip.id = ids.get(clip.title) ?? '';
}
