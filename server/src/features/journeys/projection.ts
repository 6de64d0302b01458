/** The projection `journeys`: stores viewers' events as chunks, for questions about sequences. */
import type { Tx } from '../../platform/database/database.ts';
import type { ProjectionWriter } from '../../platform/projections/projection.ts';
import { dayMs } from '../../platform/values/time.ts';
import { newUuid7 } from '../../platform/values/uuid7.ts';
import {
  hashViewer,
  memberOf,
  selectExistingContent,
  viewerOf,
  type ContentKey,
} from '../analytics/analytics.ts';
import {
  noItem,
  type EventBlock,
  type EventProjection,
  type LoggedEvent,
} from '../events/events.ts';
import { ViewerSecrets } from '../organizations/organizations.ts';
import { chunkOf, mergeChunks, type FullChunk, type JourneyEvent } from './chunk.ts';
import { decodeFullChunk, encodeChunk, encodeProperties } from './codec.ts';
import { forgetJourneyItems, forgetViewer } from './forget.ts';
import {
  deleteOldChunks,
  insertJourneyChunks,
  keepOldChunks,
  selectCrowdedJourneyLevels,
  takeJourneyChunks,
  type JourneyDay,
  type StoredChunk,
} from './queries.ts';

/** The range of reports plus a few days. */
const keptDays = 400;
/** A chunk with at least this many rows belongs to the next level. */
const levelRows = [1_024, 16_384] as const;
const fullLevel = levelRows.length;
/** This many chunks of a level are merged into one. */
const minCrowd = 16;

export const journeyEvents: EventProjection = {
  name: 'journeys',
  tables: ['journey_chunk'],
  takesCustomKinds: true,
  createWriter: () => new JourneyWriter(),
  maxDuty: 1,
  eraseViewer: forgetViewer,
  purgeItems: forgetJourneyItems,
  expire: [(tx, limit) => deleteOldChunks(tx, keptDays, limit)],
  rebuild: { from: 'log', keepOld: keepOldChunks },
};

type Day = { readonly day: JourneyDay; readonly events: JourneyEvent[] };

class JourneyWriter implements ProjectionWriter<LoggedEvent> {
  #pass: EventBlock[] = [];
  readonly #secrets = new ViewerSecrets();

  collect(blocks: readonly EventBlock[]): void {
    for (const block of blocks) if (block.events.length > 0) this.#pass.push(block);
  }

  async write(tx: Tx): Promise<void> {
    const pass = this.#pass;
    this.#pass = [];
    if (pass.length === 0) return;
    await this.#secrets.load(tx, new Set(pass.map(({ organizationId }) => organizationId)));
    const days = this.#byDay(pass, await findItems(tx, pass));
    await insertJourneyChunks(
      tx,
      days.map(({ day, events }) => stored(day, chunkOf(events))),
    );
    await compact(
      tx,
      days.map(({ day }) => day),
    );
  }

  forget(): void {
    this.#pass = [];
  }

  /** Skips events without a viewer, which belong to no journey. */
  #byDay(pass: readonly EventBlock[], items: ReadonlySet<string>): Day[] {
    const days = new Map<string, Day>();
    for (const { organizationId, events } of pass) {
      const members = new Map<string, number>();
      for (const event of events) {
        const viewer = viewerOf(event);
        if (viewer === null) continue;
        let member = members.get(viewer);
        if (member === undefined) {
          member = memberOf(hashViewer(this.#secrets, organizationId, viewer));
          members.set(viewer, member);
        }
        const startMs = Math.floor(event.at / dayMs) * dayMs;
        const key = `${organizationId} ${startMs}`;
        let found = days.get(key);
        if (found === undefined) {
          found = { day: { organizationId, dayMs: startMs }, events: [] };
          days.set(key, found);
        }
        const known = items.has(`${organizationId} ${event.contentId}`)
          ? event
          : { ...event, contentId: noItem };
        found.events.push({ member, offset: event.at - startMs, event: known });
      }
    }
    return [...days.values()];
  }
}

/** The existing items of a pass, because the purge of an item visits each projection only once. */
async function findItems(tx: Tx, pass: readonly EventBlock[]): Promise<ReadonlySet<string>> {
  const named = new Map<string, ContentKey>();
  for (const { organizationId, events } of pass) {
    for (const { contentId } of events) {
      if (contentId !== '')
        named.set(`${organizationId} ${contentId}`, { organizationId, contentId });
    }
  }
  const found = await selectExistingContent(tx, [...named.values()]);
  return new Set(found.map(({ organizationId, contentId }) => `${organizationId} ${contentId}`));
}

function stored(day: JourneyDay, of: FullChunk): StoredChunk {
  return {
    ...day,
    chunk: newUuid7(),
    level: levelRows.filter((rows) => of.rows >= rows).length,
    rows: of.rows,
    body: encodeChunk(of),
    properties: encodeProperties(of.properties),
  };
}

/** Merges small chunks, so that a day has few and each row is rewritten at most twice. */
async function compact(tx: Tx, days: readonly JourneyDay[]): Promise<void> {
  for (const level of await selectCrowdedJourneyLevels(tx, days, {
    fullLevel,
    minChunks: minCrowd,
  })) {
    const merged = mergeChunks((await takeJourneyChunks(tx, level)).map(decodeFullChunk));
    await insertJourneyChunks(tx, [stored(level, merged)]);
  }
}
