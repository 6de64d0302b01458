/**
 * Replays an organization's log in order and records, for each impression, what ranking knew at
 * that time and what the viewer did afterwards. Everything in a sample was known before its
 * outcome: profiles, counts and item vectors grow with the events.
 */
import { viewedContentOf, viewerOf } from '../../analytics/analytics.ts';
import { isCustomKind, type LoggedEvent } from '../../events/events.ts';
import type { ItemCounts } from '../credibility/count-queries.ts';
import type { FeedEntry } from '../items/feed-entry.ts';
import { shownOf } from '../items/item-stats.ts';
import { exploredViewers } from '../items/item-statistics.ts';
import type { OrganizationIndex } from '../items/organization-index.ts';
import { computeSignals, newVector } from '../ranking/signals/table.ts';
import { factorize } from '../taste/factorize.ts';
import { encodeParts, ItemVectors } from '../taste/item-vectors.ts';
import { tasteOf } from '../taste/viewer-taste.ts';
import { WatchCollector } from '../taste/watches.ts';
import {
  addEvent,
  emptyEncounter,
  latestEncounters,
  writeEncounters,
} from '../viewers/encounter.ts';
import type { Encounters } from '../viewers/encounter.ts';
import { ViewerProfile } from '../viewers/viewer-profile.ts';
import { featureCount, featuresOf } from './learned-scorer.ts';

/** An impression: the viewer's first one of an item. */
export type Impression = {
  readonly page: string;
  readonly position: number;
  readonly atMs: number;
  readonly features: Float64Array;
  /** Few viewers had encountered the item, so its place was drawn by exploration. */
  readonly isExploration: boolean;
  isLookedAt: boolean;
  watchedSeconds: number;
  isFinished: boolean;
  readonly durationSeconds: number;
};

type ReplayViewer = {
  readonly profile: ViewerProfile;
  readonly encounters: Encounters;
  readonly impressions: Map<number, Impression>;
  /** From 0 to 1, derived from the viewer's name; viewers above the sampled share are left out. */
  readonly draw: number;
};

type Moving = { shown: number; plays: number; completions: number; reactions: number };

/** Maximum number of impressions per viewer. */
const maxOfViewer = 300;
export const maxImpressions = 150_000;
/**
 * Counts and scales are rebuilt after this many impressions, and vectors when the data has grown by
 * half.
 */
const refreshEvery = 1_000;
const firstFitAt = 1_000;
const fitGrowth = 1.5;
const halfLifeMs = 48 * 3_600_000;
const enoughSeconds = 1;
const usualSeconds = 30;
const reactionWeights: Partial<Record<string, number>> = { like: 1, save: 2, share: 3 };

export class FeedReplay {
  readonly #index: OrganizationIndex;
  readonly #recencyHalfLifeHours: number;
  readonly #viewers = new Map<string, ReplayViewer>();
  readonly #counts = new Map<number, Moving>();
  #share = 1;
  #impressions = 0;
  #sinceRefresh = 0;
  #encounters = 0;
  #fitAt = firstFitAt;
  #fadedAtMs = 0;

  constructor(index: OrganizationIndex, recencyHalfLifeHours: number) {
    this.#index = index;
    this.#recencyHalfLifeHours = recencyHalfLifeHours;
  }

  add(events: readonly LoggedEvent[]): void {
    for (const event of events) {
      if (isCustomKind(event.event)) continue;
      const name = viewerOf(event);
      const contentId = viewedContentOf(event);
      const entry = contentId === null ? undefined : this.#index.findById(contentId);
      if (name === null || entry === undefined || event.bot === true) continue;
      const viewer = this.#viewerOf(name, event);
      if (event.event === 'impression') this.#addImpression(viewer, name, entry, event);
      this.#count(viewer, entry, event);
      addOutcome(viewer.impressions.get(entry.serialNumber), event);
    }
  }

  /** All samples in chronological order. */
  get impressions(): Impression[] {
    return [...this.#viewers.values()]
      .filter(({ draw }) => draw < this.#share)
      .flatMap(({ impressions }) => [...impressions.values()])
      .toSorted((a, b) => a.atMs - b.atMs);
  }

  #viewerOf(name: string, event: LoggedEvent): ReplayViewer {
    let viewer = this.#viewers.get(name);
    if (viewer === undefined) {
      const identity = { nowMs: event.at, isIdentified: event.userId !== undefined };
      viewer = {
        profile: new ViewerProfile(new Map(), () => null, identity),
        encounters: new Map(),
        impressions: new Map(),
        draw: drawOf(name),
      };
      this.#viewers.set(name, viewer);
    }
    return viewer;
  }

  #addImpression(viewer: ReplayViewer, name: string, entry: FeedEntry, event: LoggedEvent): void {
    const { impressions, profile, draw } = viewer;
    const { position, feedId } = event.data;
    this.#sinceRefresh += 1;
    if (this.#sinceRefresh >= refreshEvery) this.#refresh(event.at);
    const isKnown =
      impressions.has(entry.serialNumber) || viewer.encounters.has(entry.serialNumber);
    if (isKnown || draw >= this.#share || impressions.size >= maxOfViewer) return;
    if (typeof position !== 'number' || typeof feedId !== 'string') return;
    const { statistics, vectors } = this.#index;
    const signals = computeSignals(
      entry,
      {
        statistics,
        countedOf: (each) => statistics.signalsOf(each),
        affinities: profile.affinities,
        taste: tasteOf(profile, vectors),
        country: event.country ?? null,
        nowMs: event.at,
        recencyHalfLifeHours: this.#recencyHalfLifeHours,
      },
      newVector(),
    );
    const { durationSeconds, stats } = entry;
    impressions.set(entry.serialNumber, {
      page: `${name} ${feedId}`,
      position,
      atMs: event.at,
      features: featuresOf(
        signals,
        durationSeconds,
        event.at,
        position,
        new Float64Array(featureCount),
      ),
      isExploration: stats === null || shownOf(stats) < exploredViewers,
      isLookedAt: false,
      watchedSeconds: 0,
      isFinished: false,
      durationSeconds: durationSeconds ?? usualSeconds,
    });
    this.#impressions += 1;
    if (this.#impressions > maxImpressions) this.#sampleLess();
  }

  /** Drops half of the viewers, selected by name, to bound memory. */
  #sampleLess(): void {
    this.#share /= 2;
    this.#impressions = 0;
    for (const { impressions, draw } of this.#viewers.values()) {
      if (draw >= this.#share) impressions.clear();
      this.#impressions += impressions.size;
    }
  }

  /** A viewer counts once per item and kind. */
  #count(viewer: ReplayViewer, entry: FeedEntry, event: LoggedEvent): void {
    const { serialNumber } = entry;
    let encounter = viewer.encounters.get(serialNumber);
    let counts = this.#counts.get(serialNumber);
    if (counts === undefined) {
      counts = { shown: 0, plays: 0, completions: 0, reactions: 0 };
      this.#counts.set(serialNumber, counts);
    }
    if (encounter === undefined) {
      encounter = emptyEncounter();
      viewer.encounters.set(serialNumber, encounter);
      this.#encounters += 1;
      counts.shown += 1;
    }
    const before = { ...encounter };
    addEvent(encounter, event);
    if (before.seenSecond === 0 && encounter.seenSecond > 0) counts.plays += 1;
    if (before.flags !== encounter.flags && event.event === 'completion') counts.completions += 1;
    const isNews =
      before.flags !== encounter.flags ||
      before.likeMark % 2 !== encounter.likeMark % 2 ||
      before.saveMark % 2 !== encounter.saveMark % 2;
    if (isNews) counts.reactions += reactionWeights[event.event] ?? 0;
    viewer.profile.add(serialNumber, { ...encounter }, entry);
  }

  #refresh(nowMs: number): void {
    this.#sinceRefresh = 0;
    const faded = 0.5 ** (Math.max(0, nowMs - (this.#fadedAtMs || nowMs)) / halfLifeMs);
    this.#fadedAtMs = Math.max(this.#fadedAtMs, nowMs);
    const none = { shown: 0, plays: 0, completions: 0, reactions: 0 };
    const all: ItemCounts[] = [];
    for (const [serialNumber, counts] of this.#counts) {
      for (const name of ['shown', 'plays', 'completions', 'reactions'] as const) {
        counts[name] *= faded;
      }
      all.push({ serialNumber, known: { ...counts }, newcomers: none });
    }
    this.#index.statistics.load('recent', all);
    this.#index.statistics.refresh(nowMs);
    if (this.#encounters >= this.#fitAt) this.#fit();
  }

  #fit(): void {
    this.#fitAt = this.#encounters * fitGrowth;
    const collector = new WatchCollector();
    for (const { encounters } of this.#viewers.values()) {
      if (collector.isFull) break;
      collector.add(writeEncounters(latestEncounters(encounters)));
    }
    const { watches, viewersOf } = collector.gather();
    const factors = factorize(watches);
    const bytes = Buffer.concat(encodeParts(factors, watches.serialNumbers, viewersOf));
    this.#index.vectors = factors.found === 0 ? null : new ItemVectors(factors, bytes);
  }
}

function addOutcome(impression: Impression | undefined, event: LoggedEvent): void {
  if (impression === undefined) return;
  const { data } = event;
  const seconds = [data['watchTime'], data['watchTimeOnFrom'], data['currentTime']].find(
    (one) => typeof one === 'number',
  );
  if (event.event === 'completion') impression.isFinished = true;
  if (event.event === 'impression') {
    const { visibleSeconds } = data;
    if (typeof visibleSeconds === 'number' && visibleSeconds > enoughSeconds) {
      impression.isLookedAt = true;
    }
    return;
  }
  if (typeof seconds === 'number') {
    impression.watchedSeconds = Math.max(impression.watchedSeconds, seconds);
  }
  impression.isLookedAt = true;
}

/** A number from 0 to 1 derived from a viewer's name (FNV-1a). */
function drawOf(name: string): number {
  let state = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) {
    state = Math.imul(state ^ name.charCodeAt(at), 0x01000193);
  }
  return (state >>> 0) / 2 ** 32;
}
