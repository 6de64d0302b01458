/**
 * Paths: what viewers do next, or did before, from event to event within a session.
 *
 * A path starts at a session's first matching event, or goes back from its last one. Consecutive
 * equal events count as one unless the question disables this, and excluded kinds are treated as
 * nonexistent.
 */
import { itemIdOf, itemKey, type Chunk } from './chunk.ts';
import { groupReader, type JourneyDimension } from './dimensions.ts';
import { noItem } from '../events/events.ts';
import { matcherOf, propertiesNeeded, type Matcher } from './matcher.ts';
import { compareNames, Names, NamesInGroups, tooMany } from './names.ts';
import type { Days } from './queries.ts';
import type { Question } from './scan.ts';
import { forEachSession, type ViewerEvents } from './viewer-rows.ts';

export type PathQuestion = {
  readonly moments: Days;
  readonly anchor: Matcher;
  readonly direction: 'after' | 'before';
  readonly steps: number;
  /** Whether events of different items are distinguished. */
  readonly byItem: boolean;
  readonly exclude: ReadonlySet<string>;
  readonly collapse: boolean;
  readonly breakdown: JourneyDimension | null;
  readonly limit: number;
  readonly sessionTimeoutMs: number;
};

const maxDifferent = 500_000;
/** Maximum number of paths and transitions, over all values of a breakdown. */
const maxCounted = 2_000_000;
/** An excluded event. Only its time matters. */
const hidden = 0;

class Tally {
  /** For each step, the number of sessions per transition, keyed by `from to`. */
  readonly transitions: Map<number, number>[];
  readonly ended: number[];
  readonly paths = new Map<string, number>();
  sessions = 0;
  viewers = 0;

  constructor(steps: number) {
    this.transitions = Array.from({ length: steps }, () => new Map<number, number>());
    this.ended = Array.from({ length: steps }, () => 0);
  }
}

export class Paths {
  readonly #asked: PathQuestion;
  readonly #nodes = new Names(maxDifferent);
  readonly #groups = new Names(100_000);
  readonly #anchors = new NamesInGroups(this.#nodes, this.#groups);
  readonly #total: Tally;
  readonly #tallies = new Map<number, Tally>();
  #counted = 0;

  constructor(asked: PathQuestion) {
    this.#asked = asked;
    this.#nodes.numberOf('');
    this.#total = new Tally(asked.steps);
  }

  get question(): Question {
    const { moments, anchor, breakdown } = this.#asked;
    return {
      moments,
      properties: propertiesNeeded([anchor]),
      coder: (chunk, properties) => {
        const isAnchor = matcherOf(anchor, chunk, properties);
        const nodeOf = this.#nodeOf(chunk);
        const groupOf = groupReader(chunk, breakdown, this.#groups);
        return (row) =>
          isAnchor(row)
            ? this.#anchors.numberOf(nodeOf(row, true), groupOf(row)) * 2 + 1
            : nodeOf(row, false) * 2;
      },
      compare: (a, b) => this.#compare(a, b),
      visit: (events) => this.#visit(events),
    };
  }

  /** Codes are numbers of anchors if odd, otherwise of other nodes. */
  #node(code: number): number {
    return (code & 1) === 1 ? this.#anchors.nameOf(code >> 1) : code >> 1;
  }

  #compare(a: number, b: number): number {
    if ((a & b & 1) === 1) return this.#anchors.compare(a >> 1, b >> 1);
    return this.#nodes.compare(this.#node(a), this.#node(b)) || (a & 1) - (b & 1);
  }

  #nodeOf({ kinds, columns, items }: Chunk): (row: number, isAnchor: boolean) => number {
    const { byItem, exclude } = this.#asked;
    const none = itemKey(noItem);
    const known = new Map<number, number>();
    return (row, isAnchor) => {
      const kind = columns.kind[row] ?? 0;
      const name = kinds[kind] ?? '';
      if (!isAnchor && exclude.has(name)) return hidden;
      const item = byItem ? (columns.item[row] ?? 0) : 0;
      const key = item * 65_536 + kind;
      let node = known.get(key);
      if (node === undefined) {
        const id = byItem ? (items[item] ?? none) : none;
        node = this.#nodes.numberOf(id === none ? name : `${name} ${id}`);
        known.set(key, node);
      }
      return node;
    };
  }

  #visit(events: ViewerEvents): void {
    const visited = new Set<Tally>();
    forEachSession(events, this.#asked.sessionTimeoutMs, (from, to) => {
      const found = this.#pathOf(events.codes.subarray(from, to));
      if (found === null) return;
      const tallies = [this.#total];
      if (this.#asked.breakdown !== null) tallies.push(this.#tallyOf(found.group));
      for (const tally of tallies) {
        this.#add(tally, found.path);
        visited.add(tally);
      }
    });
    for (const tally of visited) tally.viewers += 1;
  }

  #tallyOf(group: number): Tally {
    let tally = this.#tallies.get(group);
    if (tally === undefined) {
      tally = new Tally(this.#asked.steps);
      this.#tallies.set(group, tally);
    }
    return tally;
  }

  /** The nodes from the anchor on, and the anchor's group; null without an anchor. */
  #pathOf(codes: Int32Array): { path: number[]; group: number } | null {
    const { direction, steps, collapse } = this.#asked;
    const isAfter = direction === 'after';
    const isAnchor = (code: number) => (code & 1) === 1;
    const start = isAfter ? codes.findIndex(isAnchor) : codes.findLastIndex(isAnchor);
    if (start < 0) return null;
    const anchor = codes[start] ?? 0;
    const path = [this.#node(anchor)];
    const step = isAfter ? 1 : -1;
    for (let row = start + step; row >= 0 && row < codes.length; row += step) {
      if (path.length > steps) break;
      const node = this.#node(codes[row] ?? 0);
      if (node === hidden || (collapse && node === path.at(-1))) continue;
      path.push(node);
    }
    return { path, group: this.#anchors.groupOf(anchor >> 1) };
  }

  #add(tally: Tally, path: readonly number[]): void {
    tally.sessions += 1;
    for (let step = 0; step < path.length; step += 1) {
      const [from = 0, to] = [path[step], path[step + 1]];
      const transitions = tally.transitions[step];
      if (transitions === undefined) break;
      if (to === undefined) tally.ended[step] = (tally.ended[step] ?? 0) + 1;
      else this.#count(transitions, from * maxDifferent + to);
    }
    this.#count(tally.paths, path.join(' '));
  }

  #count<Key>(counts: Map<Key, number>, key: Key): void {
    const before = counts.get(key);
    if (before === undefined) this.#counted += 1;
    if (this.#counted > maxCounted) throw tooMany(maxCounted);
    counts.set(key, (before ?? 0) + 1);
  }

  answer() {
    const { breakdown, limit } = this.#asked;
    const groups = [...this.#tallies]
      .map(([group, tally]) => ({ value: this.#groups.nameOf(group), tally }))
      .toSorted((a, b) => b.tally.sessions - a.tally.sessions || compareNames(a.value, b.value));
    return {
      ...this.#present(this.#total),
      breakdown:
        breakdown === null
          ? null
          : groups
              .slice(0, limit)
              .map(({ value, tally }) => ({ value: value || null, ...this.#present(tally) })),
      otherValues: Math.max(0, groups.length - limit),
    };
  }

  #present(tally: Tally) {
    const { limit } = this.#asked;
    const steps = tally.transitions.map((transitions, index) => {
      const all = [...transitions]
        .map(([key, sessions]) => ({
          names: [Math.floor(key / maxDifferent), key % maxDifferent].map((node) =>
            this.#nodes.nameOf(node),
          ),
          sessions,
        }))
        .toSorted(byCount);
      return {
        step: index + 1,
        transitions: all.slice(0, limit).map(({ names: [from = '', to = ''], sessions }) => ({
          from: nodeOf(from),
          to: nodeOf(to),
          sessions,
        })),
        other: total(all.slice(limit)),
        ended: tally.ended[index] ?? 0,
      };
    });
    const paths = [...tally.paths]
      .map(([key, sessions]) => ({
        names: key.split(' ').map((node) => this.#nodes.nameOf(Number(node))),
        sessions,
      }))
      .toSorted(byCount);
    return {
      sessions: tally.sessions,
      viewers: tally.viewers,
      steps,
      paths: paths
        .slice(0, limit)
        .map(({ names, sessions }) => ({ events: names.map(nodeOf), sessions })),
      otherPaths: total(paths.slice(limit)),
    };
  }
}

type Counted = { readonly names: readonly string[]; readonly sessions: number };

function byCount(a: Counted, b: Counted): number {
  return b.sessions - a.sessions || compareNames(a.names.join('\n'), b.names.join('\n'));
}

function nodeOf(name: string): { event: string; contentId: string | null } {
  const [event = '', item] = name.split(' ');
  return { event, contentId: item === undefined ? null : itemIdOf(item) };
}

function total(counted: readonly Counted[]): number {
  return counted.reduce((sum, { sessions }) => sum + sessions, 0);
}
