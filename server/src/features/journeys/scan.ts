/**
 * Reads the events of a period viewer by viewer, in chronological order. All questions about
 * sequences use this.
 *
 * Chunks are sorted by viewer, so a viewer is looked up once per run of rows. A counting sort
 * groups the rows by viewer. Beyond a few million events it works in rounds, each for a part of the
 * viewers, so that memory stays bounded.
 */
import type { Db } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { dayMs } from '../../platform/values/time.ts';
import { readPeople, type UsersOfDevices } from '../analytics/analytics.ts';
import type { Chunk } from './chunk.ts';
import { decodeChunk, decodeProperties } from './codec.ts';
import type { Properties } from './properties.ts';
import { countRows, selectJourneyChunks, type Days, type ReadJourneyChunk } from './queries.ts';
import { sortByViewer, ViewerRows, type Visit } from './viewer-rows.ts';

/** Takes about 100 MB of memory. */
const rowsOfRound = 4_000_000;
/** Takes about ten seconds on one core. */
export const maxRows = 40_000_000;
const chunksAtOnce = 32;
const maxTurnMs = 10;

/** A question about the events of a period. */
export type Question = {
  /** The range from `startMs` up to but excluding `endMs`. */
  readonly moments: Days;
  /** The values of `data` that it needs, by `propertyName`. */
  readonly properties: ReadonlySet<string>;
  /** Returns the code of a chunk's row for the question, from 0; negative to skip the row. */
  readonly coder: (
    chunk: Chunk,
    properties: Properties,
    dayStartMs: number,
  ) => (row: number) => number;
  /** Orders events of the same millisecond, so that the result does not depend on their arrival. */
  readonly compare: (code: number, other: number) => number;
  readonly visit: Visit;
};

/** @throws ApiError LIMIT_EXCEEDED */
export async function ask(db: Db, organizationId: string, question: Question): Promise<void> {
  const days = daysOf(question.moments);
  const total = await countRows(db, organizationId, days);
  if (total > maxRows) {
    throw new ApiError('LIMIT_EXCEEDED', {
      message: `The range has ${total} events, and a query can cover at most ${maxRows}. Request fewer days.`,
    });
  }
  if (total === 0) return;
  const people = await readPeople(db, organizationId);
  const turn = new Turn();
  const rounds = Math.ceil(total / rowsOfRound);
  for (let round = 0; round < rounds; round += 1) {
    const rows = new ViewerRows();
    for await (const chunk of readChunks(db, organizationId, days, question)) {
      const isOfRound = rounds === 1 ? null : (person: number) => person % rounds === round;
      collect(rows, chunk, question, { people, isOfRound });
      if (turn.isOver()) await turn.next();
    }
    const sorted = sortByViewer(rows, question.compare);
    while (sorted.visitSome(question.visit)) if (turn.isOver()) await turn.next();
  }
}

type Selection = {
  readonly people: UsersOfDevices | null;
  readonly isOfRound: ((person: number) => boolean) | null;
};

function collect(
  rows: ViewerRows,
  stored: ReadJourneyChunk,
  { moments, properties, coder }: Question,
  { people, isOfRound }: Selection,
): void {
  const chunk = decodeChunk(stored.body);
  const codeOf = coder(chunk, decodeProperties(stored.properties, properties), stored.dayMs);
  const { member, offset } = chunk.columns;
  const first = moments.startMs - stored.dayMs;
  const end = moments.endMs - stored.dayMs;
  let current = 0;
  let person = 0;
  let isWanted = false;
  let viewer = -1;
  for (let row = 0; row < chunk.rows; row += 1) {
    const at = offset[row] ?? 0;
    if (at < first || at >= end) continue;
    const found = member[row] ?? 0;
    if (found !== current) {
      current = found;
      person = people?.get(found) ?? found;
      isWanted = isOfRound === null || isOfRound(person);
      viewer = -1;
    }
    const code = isWanted ? codeOf(row) : -1;
    if (code < 0) continue;
    if (viewer < 0) viewer = rows.viewerOf(person);
    rows.add(viewer, stored.dayMs + at, code);
  }
}

/** Chunks in day order. */
async function* readChunks(
  db: Db,
  organizationId: string,
  days: Days,
  { properties }: Question,
): AsyncGenerator<ReadJourneyChunk> {
  const withProperties = properties.size > 0;
  for (let after: ReadJourneyChunk | null = null; ;) {
    const page = { after, limit: chunksAtOnce, withProperties };
    const chunks: ReadJourneyChunk[] = await selectJourneyChunks(db, organizationId, days, page);
    yield* chunks;
    const last = chunks.at(-1);
    if (last === undefined || chunks.length < chunksAtOnce) return;
    after = last;
  }
}

/** The UTC days that cover the range. */
function daysOf({ startMs, endMs }: Days): Days {
  return {
    startMs: Math.floor(startMs / dayMs) * dayMs,
    endMs: Math.ceil(endMs / dayMs) * dayMs,
  };
}

/** Yields to the event loop after a time slice. */
class Turn {
  #startedAt = performance.now();

  isOver(): boolean {
    return performance.now() - this.#startedAt > maxTurnMs;
  }

  async next(): Promise<void> {
    await new Promise(setImmediate);
    this.#startedAt = performance.now();
  }
}
