import type { Logger } from 'pino';
import { byDeadline } from '../../../platform/async/by-deadline.ts';
import type { Db } from '../../../platform/database/database.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { Pictures, type KnownPictures } from '../../../platform/memory/pictures.ts';
import { OrganizationIndex } from './organization-index.ts';
import {
  readChanges,
  readMembers,
  readMoment,
  type ChangePosition,
  type Moment,
} from './index-queries.ts';

/** The maximum delay until changes of other processes are seen. */
const pollIntervalMs = 250;
/** Requests of this process wait while a page of rows is applied. */
const changesAtOnce = 500;
/**
 * Without contact to the database for this long, the index might show items that have been
 * withdrawn.
 */
const staleAfterMs = 5_000;
const longestWaitMs = 1_000;

type Prepare = (organizationId: OrganizationId, index: OrganizationIndex) => Promise<void>;
type OnLoaded = (organizationId: OrganizationId, index: OrganizationIndex) => void;

/**
 * An organization's index, and the current time on the database's clock, which schedules are
 * compared with.
 */
export type FeedView = {
  index: OrganizationIndex;
  nowMs: number;
  /** Time since the database last responded, normally at most a quarter of a second. */
  ageMs: number;
};

/**
 * In-memory indexes of showable items, for each organization that is requested. The index tails the
 * changes of the content table, so every process of a cluster sees them within a second, and the
 * process that made a change sees it at once.
 */
export class FeedIndex implements AsyncDisposable {
  readonly #db: Db;
  readonly #pictures: Pictures<OrganizationIndex>;
  #seen: (Moment & { readAt: number }) | null = null;
  /** The snapshot from which changes may be missing in an index that is being loaded. */
  readonly #loadedFrom = new WeakMap<OrganizationIndex, string>();
  #prepare: Prepare = async () => undefined;
  #onLoaded: OnLoaded = () => undefined;

  constructor(db: Db, log: Logger) {
    this.#db = db;
    this.#pictures = new Pictures({
      name: 'feed index',
      log,
      pollMs: pollIntervalMs,
      load: (organizationId) => this.#load(organizationId),
      catchUp: (organizationId, index) => this.#catchUp(organizationId, index),
      onLoaded: (organizationId, index) => this.#onLoaded(organizationId, index),
      refresh: (known) => this.#refresh(known),
    });
  }

  /**
   * Waits for the database only while it is not known to be down, and never for long.
   *
   * @throws ApiError UNAVAILABLE if the database has been unreachable for too long
   */
  async view(organizationId: OrganizationId): Promise<FeedView> {
    const deadline = performance.now() + longestWaitMs;
    const index = await this.#pictures.of(organizationId, deadline);
    // After an outage the poll may still be backing off, which is no reason to keep rejecting
    // requests.
    if (this.#ageMs() > staleAfterMs) await byDeadline(this.#pictures.refresh(), deadline);
    const ageMs = this.#ageMs();
    if (this.#seen === null || ageMs > staleAfterMs) throw new ApiError('UNAVAILABLE');
    return { index, nowMs: this.#seen.nowMs + ageMs, ageMs };
  }

  /** Signals that this process has committed a change: the next view contains it. */
  markChanged(): void {
    this.#pictures.markChanged();
  }

  /**
   * @param prepare runs on each index after loading, before anything else sees it
   * @param onLoaded is called as soon as `peek` returns the index
   */
  prepareWith(prepare: Prepare, onLoaded: OnLoaded): void {
    this.#prepare = prepare;
    this.#onLoaded = onLoaded;
  }

  /** The index of an organization whose feed this process serves, or null. */
  peek(organizationId: OrganizationId): OrganizationIndex | null {
    return this.#pictures.peek(organizationId);
  }

  all(): Iterable<readonly [OrganizationId, OrganizationIndex]> {
    return this.#pictures.all();
  }

  /** Runs `work` on each index at an interval, in a separate loop. */
  attend(
    name: string,
    intervalMs: number,
    work: (organizationId: OrganizationId, index: OrganizationIndex) => Promise<void>,
  ): AsyncDisposable {
    return this.#pictures.attend(name, intervalMs, work);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pictures[Symbol.asyncDispose]();
  }

  /** Time since the database last responded. */
  #ageMs(): number {
    return this.#seen === null ? Infinity : performance.now() - this.#seen.readAt;
  }

  async #refresh(known: KnownPictures<OrganizationIndex>): Promise<null> {
    const moment = await readMoment(this.#db);
    const readAt = performance.now();
    if (this.#seen !== null && known.size > 0) await this.#applyChanges(this.#seen.snapshot, known);
    this.#seen = { ...moment, readAt };
    return null;
  }

  async #applyChanges(
    sinceSnapshot: string,
    indexes: KnownPictures<OrganizationIndex>,
  ): Promise<void> {
    let after: ChangePosition | null = null;
    do {
      const page = await readChanges(this.#db, sinceSnapshot, [...indexes.keys()], {
        after,
        limit: changesAtOnce,
      });
      for (const [id, items] of Map.groupBy(page.items, (item) => item.organizationId)) {
        await indexes.get(id as OrganizationId)?.apply(items);
      }
      after = page.last;
    } while (after !== null);
  }

  /**
   * Reads the items concurrently with refreshes, because reading a million of them takes longer
   * than requests may wait.
   */
  async #load(organizationId: OrganizationId): Promise<OrganizationIndex> {
    const { snapshot } = await readMoment(this.#db);
    const index = new OrganizationIndex();
    await readMembers(this.#db, organizationId, (items) => index.apply(items));
    await this.#prepare(organizationId, index);
    this.#loadedFrom.set(index, snapshot);
    return index;
  }

  async #catchUp(organizationId: OrganizationId, index: OrganizationIndex): Promise<void> {
    // Polling is paused while no index is loaded, so the last snapshot may be old.
    await this.#refresh(new Map(this.#pictures.all()));
    const since = this.#loadedFrom.get(index);
    if (since !== undefined) await this.#applyChanges(since, new Map([[organizationId, index]]));
  }
}
