/** Figures of the quality of a feed, as the literature defines them. */
import type { DemoViewer } from '../../server/src/cli/demo/viewers.ts';
import { decisionOf, gradeOf, type Clip, type World } from './taste-world.ts';

export type FeedFigures = {
  /** Mean over visits of the discounted gain of the first ten, relative to the best order. */
  ndcg: number;
  /** Watched share of what was shown. */
  watchShare: number;
  /** Share of the library that was shown at all. */
  coverage: number;
  /** Entropy of the authors of what was shown, in bits. */
  authorEntropy: number;
  impressions: number;
};

const rankingDepth = 10;
const gainOf = (grade: number) => 2 ** grade - 1;

/** Gathers the figures of one feed, visit by visit. */
export class FigureCollector {
  readonly #world: World;
  /** Clips that come in on the way are no part of it. */
  readonly #library: ReadonlySet<string>;
  readonly #grades = new Map<string, Uint8Array>();
  readonly #seen = new Map<string, Set<string>>();
  readonly #shown = new Set<string>();
  readonly #authors = new Map<string, number>();
  #ndcgSum = 0;
  #visits = 0;
  #watched = 0;
  #length = 0;
  #impressions = 0;

  constructor(world: World) {
    this.#world = world;
    this.#library = new Set(world.clips.map(({ title }) => title));
  }

  seenBy({ name }: DemoViewer): Set<string> {
    let seen = this.#seen.get(name);
    if (seen === undefined) {
      seen = new Set();
      this.#seen.set(name, seen);
    }
    return seen;
  }

  /** A page was shown and watched. `isRated` is false while everything is still being learned. */
  addPage(viewer: DemoViewer, visit: string, page: readonly Clip[], isRated: boolean): void {
    const seen = this.seenBy(viewer);
    if (isRated) {
      const isFirst = page.length >= rankingDepth;
      if (isFirst) this.#addRanking(viewer, page, seen);
      for (const clip of page) this.#addView(viewer, visit, clip);
    }
    for (const { title } of page) seen.add(title);
  }

  figures(): FeedFigures {
    let entropy = 0;
    for (const count of this.#authors.values()) {
      const share = count / this.#impressions;
      entropy -= share * Math.log2(share);
    }
    return {
      ndcg: this.#ndcgSum / this.#visits,
      watchShare: this.#watched / this.#length,
      coverage: this.#shown.size / this.#world.clips.length,
      authorEntropy: entropy,
      impressions: this.#impressions,
    };
  }

  #addView(viewer: DemoViewer, visit: string, clip: Clip): void {
    const { watchSeconds } = decisionOf(viewer, visit, clip);
    this.#watched += Math.min(watchSeconds, clip.duration);
    this.#length += clip.duration;
    this.#impressions += 1;
    if (this.#library.has(clip.title)) this.#shown.add(clip.title);
    this.#authors.set(clip.author, (this.#authors.get(clip.author) ?? 0) + 1);
  }

  /** What was seen before gains nothing: the best order is that of what is new to the viewer. */
  #addRanking(viewer: DemoViewer, page: readonly Clip[], seen: ReadonlySet<string>): void {
    const discount = (place: number) => 1 / Math.log2(place + 2);
    let gain = 0;
    for (const [place, clip] of page.slice(0, rankingDepth).entries()) {
      if (!seen.has(clip.title)) gain += gainOf(gradeOf(viewer, clip)) * discount(place);
    }
    const grades = this.#gradesOf(viewer);
    const counts = [0, 0, 0, 0, 0];
    for (const [index, clip] of this.#world.clips.entries()) {
      const grade = grades[index] ?? 0;
      if (!seen.has(clip.title)) counts[grade] = (counts[grade] ?? 0) + 1;
    }
    let best = 0;
    let place = 0;
    for (const grade of [4, 3, 2, 1]) {
      for (let left = counts[grade] ?? 0; left > 0 && place < rankingDepth; left -= 1) {
        best += gainOf(grade) * discount(place);
        place += 1;
      }
    }
    if (best === 0) return;
    this.#ndcgSum += gain / best;
    this.#visits += 1;
  }

  #gradesOf(viewer: DemoViewer): Uint8Array {
    const { clips } = this.#world;
    let grades = this.#grades.get(viewer.name);
    if (grades === undefined || grades.length < clips.length) {
      grades = Uint8Array.from(clips, (clip) => gradeOf(viewer, clip));
      this.#grades.set(viewer.name, grades);
    }
    return grades;
  }
}
