/** Standard quality metrics of a feed from the literature. */
import { gradeOf, type Clip, type Watcher, type World } from './quality-world.ts';

export type QualityFigures = {
  /** Mean over visits of the discounted gain of the first ten items, relative to the best order. */
  readonly ndcg: number;
  /** Share of the library that was shown at all. */
  readonly coverage: number;
};

const depth = 10;
const gainOf = (grade: number) => 2 ** grade - 1;
const discountOf = (place: number) => 1 / Math.log2(place + 2);

/** Collects the figures of one feed, visit by visit. */
export class QualityCollector {
  readonly #world: World;
  readonly #library: ReadonlySet<Clip>;
  readonly #seen = new Map<Watcher, Set<Clip>>();
  readonly #shown = new Set<Clip>();
  #sum = 0;
  #visits = 0;

  constructor(world: World) {
    this.#world = world;
    this.#library = new Set(world.clips);
  }

  seenBy(viewer: Watcher): Set<Clip> {
    let seen = this.#seen.get(viewer);
    if (seen === undefined) this.#seen.set(viewer, (seen = new Set()));
    return seen;
  }

  /** Records a page. Seen items gain nothing; the best order is that of the others. */
  addPage(viewer: Watcher, visit: number, page: readonly Clip[]): void {
    const seen = this.seenBy(viewer);
    if (visit >= this.#world.visitsBefore) {
      let gain = 0;
      for (const [place, clip] of page.slice(0, depth).entries()) {
        const grade = seen.has(clip) ? 0 : gradeOf(this.#world, viewer, clip, visit);
        gain += gainOf(grade) * discountOf(place);
        if (this.#library.has(clip)) this.#shown.add(clip);
      }
      const best = this.#bestGain(viewer, visit, seen);
      if (best > 0) {
        this.#sum += gain / best;
        this.#visits += 1;
      }
    }
    for (const clip of page) seen.add(clip);
  }

  get figures(): QualityFigures {
    return {
      ndcg: this.#sum / this.#visits,
      coverage: this.#shown.size / this.#world.clips.length,
    };
  }

  #bestGain(viewer: Watcher, visit: number, seen: ReadonlySet<Clip>): number {
    const counts = [0, 0, 0, 0, 0];
    for (const clip of this.#world.clips) {
      if (seen.has(clip)) continue;
      const grade = gradeOf(this.#world, viewer, clip, visit);
      counts[grade] = (counts[grade] ?? 0) + 1;
    }
    let best = 0;
    let place = 0;
    for (const grade of [4, 3, 2, 1]) {
      for (let left = counts[grade] ?? 0; left > 0 && place < depth; left -= 1) {
        best += gainOf(grade) * discountOf(place);
        place += 1;
      }
    }
    return best;
  }
}
