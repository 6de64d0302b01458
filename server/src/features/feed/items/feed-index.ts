import type { Logger } from 'pino';
import { byDeadline } from '../../../platform/by-deadline.ts';
import type { Db } from '../../../platform/database/database.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { Pictures, type KnownPictures } from '../../../platform/pictures.ts';
import { OrganizationIndex } from './organization-index.ts';
import {
  readChanges,
  readMembers,
  readMoment,
  type ChangePosition,
  type Moment,
} from './index-queries.ts';

/** Changes of other processes are seen after this long at most. */
const pollIntervalMs = 250;
/** Requests of this process wait while the rows of one page are read. */
const changesAtOnce = 500;
/** After this long without contact to the database, the index might show items that have been withdrawn. */
const staleAfterMs = 5_000;
/** A page waits no longer than this for a refresh. */
const longestWaitMs = 1_000;

type Prepare = (organizationId: OrganizationId, index: OrganizationIndex) => Promise<void>;
type OnLoaded = (organizationId: OrganizationId, index: OrganizationIndex) => void;

/**
 * An organization's index, and the current time of the database's clock, by which schedules are
 * judged.
 */
export type FeedView = {
  index: OrganizationIndex;
  nowMs: number;
  /** For how long nothing was heard from the database: it answers four times a second. */
  ageMs: number;
};

/**
 * The items that may be shown, in memory, for each organization that is asked for. It tails the
 * changes of the content table, so every process of a cluster sees them within a second, and the
 * one that made a change sees it at once.
 */
export class FeedIndex implements AsyncDisposable {
  readonly #db: Db;
  readonly #pictures: Pictures<OrganizationIndex>;
  #seen: (Moment & { readAt: number }) | null = null;
  /** Where the changes begin that an index may lack which is being loaded. */
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
   * A view waits for the database only while it is not known to be away, and never for long.
   *
   * @throws ApiError UNAVAILABLE when the database was out of reach for too long
   */
  async view(organizationId: OrganizationId): Promise<FeedView> {
    const deadline = performance.now() + longestWaitMs;
    const index = await this.#pictures.of(organizationId, deadline);
    // After an outage the poll may be in its back-off, which is not a reason to keep refusing.
    if (this.#ageMs() > staleAfterMs) await byDeadline(this.#pictures.refresh(), deadline);
    const ageMs = this.#ageMs();
    if (this.#seen === null || ageMs > staleAfterMs) throw new ApiError('UNAVAILABLE');
    return { index, nowMs: this.#seen.nowMs + ageMs, ageMs };
  }

  /** Tells that this process has committed a change: the next view contains it. */
  markChanged(): void {
    this.#pictures.markChanged();
  }

  /**
   * @param prepare is done with each index after it was loaded, and before anybody sees it
   * @param onLoaded is called at the moment from which on `peek` returns the index
   */
  prepareWith(prepare: Prepare, onLoaded: OnLoaded): void {
    this.#prepare = prepare;
    this.#onLoaded = onLoaded;
  }

  /** The index of an organization whose feed this process serves; else null. */
  peek(organizationId: OrganizationId): OrganizationIndex | null {
    return this.#pictures.peek(organizationId);
  }

  all(): Iterable<readonly [OrganizationId, OrganizationIndex]> {
    return this.#pictures.all();
  }

  /** Does `work` with each index at an interval, in a loop of its own. */
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

  /** For how long nothing was heard from the database. */
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

  /** The items are read beside refreshes, since a million of them take longer than others may wait. */
  async #load(organizationId: OrganizationId): Promise<OrganizationIndex> {
    const { snapshot } = await readMoment(this.#db);
    const index = new OrganizationIndex();
    await readMembers(this.#db, organizationId, (items) => index.apply(items));
    await this.#prepare(organizationId, index);
    this.#loadedFrom.set(index, snapshot);
    return index;
  }

  async #catchUp(organizationId: OrganizationId, index: OrganizationIndex): Promise<void> {
    // Polling rests while nothing is known, so the last moment may be long ago.
    await this.#refresh(new Map(this.#pictures.all()));
    const since = this.#loadedFrom.get(index);
    if (since !== undefined) await this.#applyChanges(since, new Map([[organizationId, index]]));
  }
}
