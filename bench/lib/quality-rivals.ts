/** The feeds that ours is compared with: simple policies that know what their own viewers did. */
import { QualityCollector, type QualityFigures } from './quality-figures.ts';
import { decisionOf, type Clip, type Watcher, type World } from './quality-world.ts';
import { pageSize, type Visit } from './quality-visits.ts';

export type Policy = {
  /** The value of a clip for a viewer; the highest are shown. */
  readonly valueOf: (viewer: Watcher, clip: Clip) => number;
  readonly watched: (viewer: Watcher, clip: Clip, isLiked: boolean) => void;
};

export const rivals: Readonly<Record<'newest' | 'popular' | 'itemItem', () => Policy>> = {
  newest: () => ({ valueOf: (_viewer, clip) => -clip.ageHours, watched: () => undefined }),
  popular: () => {
    const rates = new Rates();
    return {
      valueOf: (_viewer, clip) => rates.of(clip),
      watched: (_viewer, clip, isLiked) => rates.add(clip, isLiked),
    };
  },
  /**
   * The cosine similarity of two clips' audiences that watched to the end, shrunk (Sarwar et al.
   * 2001), plus popularity.
   */
  itemItem: () => {
    const rates = new Rates();
    const likedBy = new Map<Watcher, Clip[]>();
    const together = new Map<Clip, Map<Clip, number>>();
    const counts = new Map<Clip, number>();
    return {
      valueOf: (viewer, clip) => {
        let sum = 0;
        const others = together.get(clip);
        for (const other of likedBy.get(viewer) ?? []) {
          const both = others?.get(other) ?? 0;
          if (both === 0) continue;
          sum += both / (Math.sqrt((counts.get(clip) ?? 0) * (counts.get(other) ?? 0)) + 5);
        }
        return sum + 0.01 * rates.of(clip);
      },
      watched: (viewer, clip, isLiked) => {
        rates.add(clip, isLiked);
        if (!isLiked) return;
        const liked = likedBy.get(viewer) ?? [];
        for (const other of liked) {
          addOne(together, clip, other);
          addOne(together, other, clip);
        }
        liked.push(clip);
        likedBy.set(viewer, liked);
        counts.set(clip, (counts.get(clip) ?? 0) + 1);
      },
    };
  },
};

export function playRival(world: World, visits: readonly Visit[], policy: Policy): QualityFigures {
  const collector = new QualityCollector(world);
  for (const { viewer, number } of visits) {
    const seen = collector.seenBy(viewer);
    const page = world.clips
      .filter((clip) => !seen.has(clip))
      .map((clip) => ({ clip, value: policy.valueOf(viewer, clip) }))
      .toSorted((a, b) => b.value - a.value)
      .slice(0, pageSize)
      .map(({ clip }) => clip);
    collector.addPage(viewer, number, page);
    for (const clip of page) {
      const { watchSeconds, likes } = decisionOf(world, viewer, clip, number);
      policy.watched(viewer, clip, likes || watchSeconds >= clip.duration);
    }
  }
  return collector.figures;
}

class Rates {
  readonly #counts = new Map<Clip, { shown: number; liked: number }>();

  of(clip: Clip): number {
    const { shown = 0, liked = 0 } = this.#counts.get(clip) ?? {};
    return (liked + 5) / (shown + 10);
  }

  add(clip: Clip, isLiked: boolean): void {
    const known = this.#counts.get(clip) ?? { shown: 0, liked: 0 };
    known.shown += 1;
    known.liked += isLiked ? 1 : 0;
    this.#counts.set(clip, known);
  }
}

function addOne(together: Map<Clip, Map<Clip, number>>, a: Clip, b: Clip): void {
  let others = together.get(a);
  if (others === undefined) together.set(a, (others = new Map()));
  others.set(b, (others.get(b) ?? 0) + 1);
}
