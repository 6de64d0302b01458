/**
 * Follows the event log, so that pages know what viewers did a moment ago. Events received by this
 * process are handed over before they are acknowledged; those of other processes are found by
 * polling. Only events of organizations whose feed this process serves are processed; a limited
 * number of others are buffered for feeds that are requested later.
 */
import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import type { LogPosition } from '../../../platform/event-log/event-log.ts';
import { background, sleep } from '../../../platform/async/lifecycle.ts';
import { PollPace } from '../../../platform/async/poll-pace.ts';
import { viewedContentOf, viewerOf } from '../../analytics/analytics.ts';
import {
  isCustomKind,
  type EngagementLog,
  type LoggedEvent,
  type StoredEvents,
} from '../../events/events.ts';
import { noteEvent } from '../items/feed-entry.ts';
import type { OrganizationIndex } from '../items/organization-index.ts';
import { readViewerProgress } from './viewer-queries.ts';
import type { ViewerProfiles } from './viewer-profiles.ts';

type Followed = { peek(organizationId: OrganizationId): OrganizationIndex | null };

const poll = { shortestMs: 200, longestMs: 600 };
const pageBlocks = 500;
const pageEvents = 4_000;
/** Maximum number of events kept for organizations whose feed has not been requested yet. */
const maxPending = 10_000;
/**
 * If a projection is farther behind than this at startup, the follower does not start from its
 * position.
 */
const maxBehindMs = 5 * 60_000;
/**
 * Margin for clock differences, and for blocks that commit in a different order than they arrived.
 */
const marginMs = 5_000;
const progressEveryMs = 1_000;

export type EventFollowerOptions = {
  readonly db: Db;
  readonly log: Logger;
  readonly eventLog: EngagementLog;
  readonly indexes: Followed;
  readonly profiles: ViewerProfiles;
};

export class EventFollower implements AsyncDisposable {
  readonly #options: EventFollowerOptions;
  readonly #loop: AsyncDisposable;
  /** Sequence numbers of blocks added by this process, until the poll has passed them. */
  readonly #own = new Set<number>();
  #pending: StoredEvents[] = [];
  #pendingEvents = 0;
  #position: LogPosition | null = null;
  #progressReadAt = -Infinity;
  readonly #pollPace = new PollPace(poll);

  constructor(options: EventFollowerOptions) {
    this.#options = options;
    this.#loop = background('feed event follower', (signal) => this.#run(signal), options.log);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }

  /** Receives events that this process has just stored. */
  stored(blocks: readonly StoredEvents[]): void {
    const nowMs = Date.now();
    for (const block of blocks) {
      this.#own.add(block.sequence);
      this.#take(block, nowMs);
    }
  }

  /** Applies the buffered events of an organization whose index was loaded. */
  loaded(organizationId: OrganizationId, index: OrganizationIndex): void {
    const nowMs = Date.now();
    const [own, others] = [[], []] as [StoredEvents[], StoredEvents[]];
    for (const one of this.#pending) {
      (one.organizationId === organizationId ? own : others).push(one);
    }
    this.#pending = others;
    this.#pendingEvents = others.reduce((sum, { events }) => sum + events.length, 0);
    for (const { events } of own) this.#apply(organizationId, index, events, nowMs);
  }

  async #run(signal: AbortSignal): Promise<void> {
    this.#position ??= await this.#start();
    while (!signal.aborted) {
      const isLast = await this.#read(this.#position);
      await this.#noticeProgress();
      if (isLast) await sleep(this.#pollPace.ms, signal);
    }
  }

  /**
   * Starts at the position of the projection, so that nothing after it is missed after a restart.
   */
  async #start(): Promise<LogPosition> {
    const { db, eventLog } = this.#options;
    const progress = await readViewerProgress(db);
    if (progress === null || progress.behindMs >= maxBehindMs) return eventLog.end();
    return progress.position ?? eventLog.since(progress.receivedAtMs - marginMs);
  }

  /** Reads one page. @returns whether it was the last */
  async #read(position: LogPosition): Promise<boolean> {
    const before = [...this.#own];
    const page = await this.#options.eventLog.scan(position, {
      limitBlocks: pageBlocks,
      limitEvents: pageEvents,
    });
    if (page.blocks.length > 0) this.#pollPace.foundSomething();
    else this.#pollPace.foundNothing();
    for (const block of page.blocks) {
      if (this.#own.has(block.sequence)) continue;
      const events = block.decode();
      // Null for a block of this process that is no longer in memory: it was already handed over.
      if (events !== null) this.#take({ ...block, events }, block.receivedAt);
    }
    this.#position = page.next;
    if (page.isLast) for (const sequence of before) this.#own.delete(sequence);
    return page.isLast;
  }

  async #noticeProgress(): Promise<void> {
    const now = performance.now();
    if (now - this.#progressReadAt < progressEveryMs) return;
    this.#progressReadAt = now;
    const progress = await readViewerProgress(this.#options.db);
    if (progress !== null) this.#options.profiles.written(progress.receivedAtMs - marginMs);
  }

  #take(block: StoredEvents, receivedAtMs: number): void {
    const organizationId = block.organizationId as OrganizationId;
    const index = this.#options.indexes.peek(organizationId);
    if (index !== null) this.#apply(organizationId, index, block.events, receivedAtMs);
    else this.#keep(block);
  }

  #apply(
    organizationId: OrganizationId,
    index: OrganizationIndex,
    events: readonly LoggedEvent[],
    receivedAtMs: number,
  ): void {
    const { profiles } = this.#options;
    index.statistics.heard(performance.now());
    let before: LoggedEvent | null = null;
    let name: string | null = null;
    for (const event of events) {
      // Projections skip these as well.
      if (isCustomKind(event.event)) continue;
      if (before === null || !isSameViewer(before, event)) {
        const viewer = viewerOf(event);
        name = viewer === null ? null : `${organizationId} ${viewer}`;
        profiles.link(organizationId, event, event.at);
      }
      before = event;
      const contentId = viewedContentOf(event);
      if (contentId === null) continue;
      const entry = index.findById(contentId);
      if (entry !== undefined) noteEvent(entry, event.event);
      if (name !== null) profiles.add(name, contentId, entry, event, receivedAtMs);
    }
  }

  #keep(block: StoredEvents): void {
    if (block.events.length > maxPending) return;
    this.#pending.push(block);
    this.#pendingEvents += block.events.length;
    while (this.#pendingEvents > maxPending) {
      this.#pendingEvents -= this.#pending.shift()?.events.length ?? 0;
    }
  }
}

/** A block holds whole client batches, so consecutive events usually share a viewer. */
function isSameViewer(a: LoggedEvent, b: LoggedEvent): boolean {
  return a.userId === b.userId && a.deviceId === b.deviceId && a.sessionId === b.sessionId;
}
