/**
 * The lanes of one process. Partitions of a projection at the same position form one lane, so a
 * process that holds all of them writes as little as if there were no partitions. Partitions taken
 * over from another process are usually at another position; their lane catches up and is then
 * merged with the others.
 */
import type { EventLog, LogEntry, LogPosition } from '../event-log/event-log.ts';
import type { Lane } from './lanes.ts';
import { Pace } from './pace.ts';
import type { Projection } from './projection.ts';
import type { Progress } from './queries.ts';
import { ProjectionRun } from './run.ts';

export class LaneSet<Event extends LogEntry> {
  readonly #projections: readonly Projection<Event>[];
  readonly #log: Pick<EventLog<Event>, 'start' | 'compare'>;
  readonly #schema: string | null;
  #lanes: readonly Lane<Event>[] = [];

  /** @param schema of the tables, if they are not the live ones */
  constructor(
    projections: readonly Projection<Event>[],
    log: Pick<EventLog<Event>, 'start' | 'compare'>,
    schema: string | null = null,
  ) {
    this.#projections = projections;
    this.#log = log;
    this.#schema = schema;
  }

  get all(): readonly Lane<Event>[] {
    return this.#lanes;
  }

  /** @param progress the rows of the partitions that this process holds */
  arrange(progress: readonly Progress[]): void {
    const byName = Map.groupBy(progress, ({ name }) => name);
    this.#lanes = this.#projections.flatMap((projection) =>
      this.#arrangeOne(projection, byName.get(projection.name) ?? []),
    );
  }

  #arrangeOne(projection: Projection<Event>, rows: readonly Progress[]): Lane<Event>[] {
    const before = this.#lanes.filter(({ run }) => run.projection === projection);
    const going = before.filter(({ run }) => run.isAsIn(rows));
    const keeping = new Set(going.flatMap(({ run }) => run.partitions));
    const groups = this.#byPosition(rows.filter(({ partition }) => !keeping.has(partition)));
    const kept = going.filter((lane) => {
      const { run } = lane;
      const joined =
        run.collected.blocks > 0
          ? undefined
          : groups.find((group) => this.#isSame(this.#positionOf(group), run.position));
      if (joined === undefined) return true;
      joined.push(...rows.filter(({ partition }) => run.partitions.includes(partition)));
      return false;
    });
    const fresh = groups.map((group) => {
      const sorted = group.toSorted((a, b) => a.partition - b.partition);
      const partitions = sorted.map(({ partition }) => partition);
      // A lane that failed keeps its pace.
      const found = before.find(({ run }) => isEqual(run.partitions, partitions));
      const lane = found ?? this.#createLane(projection, partitions);
      if (lane.pace.mayRetry()) lane.run.resume(sorted);
      return lane;
    });
    for (const { run } of before.filter((lane) => ![...kept, ...fresh].includes(lane))) run.reset();
    return [...kept, ...fresh];
  }

  #createLane(projection: Projection<Event>, partitions: readonly number[]): Lane<Event> {
    const run = new ProjectionRun(projection, this.#log.start, {
      partitions,
      schema: this.#schema,
    });
    return { run, pace: new Pace(projection.maxDuty) };
  }

  #byPosition(rows: readonly Progress[]): Progress[][] {
    const groups: Progress[][] = [];
    for (const row of rows) {
      const position = row.position ?? this.#log.start;
      const found = groups.find((group) => this.#isSame(this.#positionOf(group), position));
      if (found === undefined) groups.push([row]);
      else found.push(row);
    }
    return groups;
  }

  #positionOf([first]: readonly Progress[]): LogPosition {
    return first?.position ?? this.#log.start;
  }

  #isSame(one: LogPosition, other: LogPosition): boolean {
    return this.#log.compare(one, other) === 'same';
  }

  /** Whether another lane of the same projection has reached the same position. */
  hasTwin(lane: Lane<Event>): boolean {
    return this.#lanes.some(
      (other) =>
        other !== lane &&
        other.run.projection === lane.run.projection &&
        other.run.isReady &&
        this.#isSame(other.run.position, lane.run.position),
    );
  }

  /**
   * Merges lanes that have written up to the same position.
   *
   * @returns whether there were any
   */
  joinTwins(): boolean {
    const twins = this.#lanes.filter(
      (lane) => lane.run.isReady && lane.run.collected.blocks === 0 && this.hasTwin(lane),
    );
    // Excludes twins that have written further.
    const joining = twins.filter((lane) =>
      twins.some((other) => other !== lane && other.run.projection === lane.run.projection),
    );
    for (const { run } of joining) run.reset();
    return joining.length > 0;
  }
}

function isEqual(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}
