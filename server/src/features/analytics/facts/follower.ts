/** Writes the facts of the views and sessions that a pass has changed. */
import { sql } from 'kysely';
import { dayMs, hourMs } from '../../../platform/values/time.ts';
import { newUuid7 } from '../../../platform/values/uuid7.ts';
import type { Tx } from '../../../platform/database/database.ts';
import { localMoment } from '../../../platform/values/zone-clock.ts';
import { positionStep } from '../projections/engagement/content-detail.ts';
import {
  addSessionCounts,
  addViewCounts,
  addViewEvents,
  emptyAudienceCounts,
  reachedMs,
} from '../projections/engagement/contribution.ts';
import type {
  Changed,
  EngagementChanges,
  EngagementFollower,
} from '../projections/engagement/follower.ts';
import type { SessionState } from '../projections/engagement/session-state.ts';
import { countOf, hasStarted, type ViewState } from '../projections/engagement/view-state.ts';
import { isBeforeLog, keepOldRows } from '../projections/table-queries.ts';
import { memberOf } from '../statistics/viewer-key.ts';
import { decodeFacts, encodeFacts } from './codec.ts';
import { countryNumber, factDevices, FactsBuilder, type Facts } from './facts.ts';
import { forgetViewerInFacts } from './forget.ts';
import { mergeFacts } from './merge.ts';
import { insertNames, keepOldNames, namesOf } from './names.ts';
import {
  insertFactChunks,
  selectCrowdedFactLevels,
  takeFactChunks,
  type FactChunk,
  type FactDay,
} from './queries.ts';

/** A chunk with at least this many rows belongs to the next level. */
const levelRows = [512, 8_192] as const;
const fullLevel = levelRows.length;
/** This many chunks of a level are merged into one. */
const minCrowd = 16;

export const facts: EngagementFollower = {
  tables: ['view_fact', 'fact_name'],
  async write(tx, changes) {
    await insertNames(tx, namesOf(changes));
    const days = buildersOf(changes);
    const written = [...days.values()].filter(({ builder }) => builder.rows > 0);
    await insertFactChunks(
      tx,
      written.map(({ day, builder }) => chunkOf(day, builder.build())),
    );
    await compact(
      tx,
      written.map(({ day }) => day),
    );
  },
  eraseViewer: forgetViewerInFacts,
  expire: [],
  carryOver: async () => undefined,
  async keepOld(tx, schema, firstDayMs) {
    const isOld = isBeforeLog(sql`kept.day::timestamp at time zone 'UTC'`, firstDayMs);
    await keepOldRows(tx, { schema, table: 'view_fact', isOld });
    await keepOldNames(tx, schema);
  },
};

type DayFacts = { readonly day: FactDay; readonly builder: FactsBuilder };

function buildersOf({ views, sessions }: EngagementChanges): Map<string, DayFacts> {
  const days = new Map<string, DayFacts>();
  const builderFor = (organizationId: string, begunMs: number) => {
    const startMs = begunMs - (begunMs % dayMs);
    const key = `${organizationId} ${startMs}`;
    let found = days.get(key);
    if (found === undefined) {
      found = { day: { organizationId, dayMs: startMs }, builder: new FactsBuilder() };
      days.set(key, found);
    }
    return found.builder;
  };
  for (const changed of views) {
    forEachChange(changed, (view, weight) => {
      const begun = localMoment(view.firstAt, view.quartersAhead);
      const builder = builderFor(changed.organizationId, begun);
      builder.add({ ...commonOf(changed, view, begun), ...viewFact(view), weight });
    });
  }
  for (const changed of sessions) {
    forEachChange(changed, (session, weight) => {
      const begun = localMoment(session.firstAt, session.quartersAhead);
      const builder = builderFor(changed.organizationId, begun);
      builder.add({ ...commonOf(changed, session, begun), ...sessionFact(session), weight });
    });
  }
  return days;
}

function forEachChange<State>(
  { before, after }: Changed<State>,
  write: (state: State, weight: 1 | -1) => void,
): void {
  for (const state of before) if (!after.includes(state)) write(state, -1);
  for (const state of after) if (!before.includes(state)) write(state, 1);
}

function commonOf(
  { viewer, contentId }: Changed<unknown>,
  { device, country, entryPoint, appVersion }: ViewState | SessionState,
  begun: number,
) {
  return {
    member: memberOf(viewer),
    contentId,
    hour: Math.floor((begun % dayMs) / hourMs),
    device: Math.max(0, (factDevices as readonly string[]).indexOf(device.value)),
    country: countryNumber(country.value),
    entryPoint: entryPoint.value,
    appVersion: appVersion.value,
  };
}

function viewFact(view: ViewState) {
  const counts = emptyAudienceCounts();
  addViewCounts([counts], view, 1);
  addViewEvents(counts, view);
  return {
    startup: view.startupMs + 1,
    reached: hasStarted(view) ? positionStep(reachedMs(view)) + 1 : 0,
    isWatched: hasStarted(view) || countOf(view, 'completions') > 0 ? 1 : 0,
    feedId: view.feedId.value,
    sharePlatform: view.sharePlatform.value,
    rendition: view.rendition.value,
    codec: view.codec.value,
    errorCode: view.errorCode.value,
    errorMessage: view.errorMessage.value,
    position: view.position.value === '' ? 0 : Number(view.position.value) + 1,
    counts,
  };
}

function sessionFact(session: SessionState) {
  const counts = emptyAudienceCounts();
  addSessionCounts(counts, session, 1);
  return {
    startup: 0,
    reached: 0,
    isWatched: 0,
    position: 0,
    ...noViewLabels,
    counts: [...counts, Math.max(0, session.plays - 1)],
  };
}

const noViewLabels = {
  feedId: '',
  sharePlatform: '',
  rendition: '',
  codec: '',
  errorCode: '',
  errorMessage: '',
};

function chunkOf(day: FactDay, of: Facts): FactChunk {
  const larger = levelRows.filter((rows) => of.rows >= rows);
  return { ...day, chunk: newUuid7(), level: larger.length, rows: of.rows, body: encodeFacts(of) };
}

/**
 * Merges small chunks, so that a day has few of them and each row is rewritten only a few times.
 */
async function compact(tx: Tx, days: readonly FactDay[]): Promise<void> {
  const crowded = await selectCrowdedFactLevels(tx, days, { fullLevel, minChunks: minCrowd });
  for (const level of crowded) {
    const merged = mergeFacts((await takeFactChunks(tx, level)).map(decodeFacts));
    if (merged.rows > 0) await insertFactChunks(tx, [chunkOf(level, merged)]);
  }
}
