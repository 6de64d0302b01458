/**
 * Pictures of organizations: the state that a process keeps of each in memory, so that requests are
 * answered without the database.
 *
 *   unknown ─ of ─▶ loading ─▶ known ─ refreshed by the poll, and after a change of this process
 *      ▲                         │
 *      └── not used for half an hour
 *
 * 1. Loads and refreshes run one after another, so that none applies an older state than the one
 *    before it. A slow load may run alongside them; only its catch-up is serialized.
 * 2. After `markChanged`, `of` includes the changes of this process; changes of other processes are
 *    found by the poll.
 * 3. All callers that wait share one load of an organization and one refresh: in an outage they
 *    fail together, not one after another.
 * 4. There is no polling while no picture is known.
 */
import type { Logger } from 'pino';
import type { OrganizationId } from '../values/ids.ts';
import { byDeadline } from '../async/by-deadline.ts';
import { background, every, sleep } from '../async/lifecycle.ts';

export type KnownPictures<Picture> = ReadonlyMap<OrganizationId, Picture>;

export type PictureOptions<Picture> = {
  /** The name of the loop, for the log. */
  readonly name: string;
  readonly log: Logger;
  /** The maximum delay until changes by other processes are seen. */
  readonly pollMs: number;
  /**
   * Reads a picture, which is not visible until it is complete. With `catchUp`, it runs alongside
   * refreshes.
   */
  readonly load: (organizationId: OrganizationId) => Promise<Picture>;
  /** Applies what has changed since the load began. */
  readonly catchUp?: (organizationId: OrganizationId, picture: Picture) => Promise<void>;
  /** Called when a loaded picture becomes known. */
  readonly onLoaded?: (organizationId: OrganizationId, picture: Picture) => void;
  /**
   * Brings the known pictures up to date, in place or by returning replacements. A picture returned
   * as null is forgotten.
   */
  readonly refresh: (
    known: KnownPictures<Picture>,
  ) => Promise<ReadonlyMap<OrganizationId, Picture | null> | null>;
  /**
   * `used`: pictures of organizations that are in use. `all`: all pictures that a refresh returns,
   * which are few or small. It always polls, and never forgets a picture on its own.
   */
  readonly keeps?: 'used' | 'all';
};

type Known<Picture> = {
  readonly picture: Picture;
  usedAt: number;
  /** This process has committed a change to the organization since. */
  isOld: boolean;
};

const forgetAfterMs = 30 * 60_000;

export class Pictures<Picture> implements AsyncDisposable {
  readonly #options: PictureOptions<Picture>;
  readonly #known = new Map<OrganizationId, Known<Picture>>();
  readonly #loading = new Map<OrganizationId, Promise<Picture>>();
  readonly #loops = new AsyncDisposableStack();
  #refreshing: Promise<void> | null = null;
  #turn: Promise<unknown> = Promise.resolve();
  /**
   * Counts of this process's changes: committed, applied to the pictures, and covered by a refresh
   * that has ended, whether it succeeded or failed.
   */
  #changes = 0;
  #appliedChanges = 0;
  #triedChanges = 0;

  constructor(options: PictureOptions<Picture>) {
    this.#options = options;
    const { name, log } = options;
    this.#loops.use(background(name, (signal) => this.#poll(signal), log));
  }

  /**
   * The picture of an organization, including all earlier changes of this process.
   *
   * @param deadline by the clock of `performance.now`; after it, any known picture is good enough
   */
  async of(organizationId: OrganizationId, deadline = Infinity): Promise<Picture> {
    const upTo = this.#changes;
    const known = this.#known.get(organizationId);
    if (known === undefined || known.isOld) await this.#loadOnce(organizationId);
    // A refresh in progress may have begun before the change, so this can take a second one.
    while (this.#appliedChanges < upTo && performance.now() < deadline) {
      await byDeadline(this.refresh(), deadline);
    }
    return this.find(organizationId) ?? this.#again(organizationId);
  }

  /** The picture if it is in memory and no change to its organization is known; otherwise null. */
  find(organizationId: OrganizationId): Picture | null {
    const known = this.#known.get(organizationId);
    if (known === undefined || known.isOld) return null;
    known.usedAt = performance.now();
    return known.picture;
  }

  /** The picture in memory, which may lack changes; null if there is none. */
  peek(organizationId: OrganizationId): Picture | null {
    return this.#known.get(organizationId)?.picture ?? null;
  }

  *all(): Generator<readonly [OrganizationId, Picture]> {
    for (const [organizationId, { picture }] of this.#known) yield [organizationId, picture];
  }

  get size(): number {
    return this.#known.size;
  }

  /** Records that this process has committed a change that may affect any organization. */
  markChanged(): void {
    this.#changes += 1;
  }

  /**
   * Records that this process has committed a change to one organization, whose picture is then
   * reloaded. Until then, only `peek` returns it.
   */
  outdate(organizationId: OrganizationId): void {
    const known = this.#known.get(organizationId);
    if (known !== undefined) known.isOld = true;
    this.#loading.delete(organizationId);
  }

  /**
   * Waits once until the changes of this process are in the pictures. If the database fails, the
   * previous state is the best one available, and the poll keeps trying.
   */
  async settled(): Promise<void> {
    const upTo = this.#changes;
    while (this.#triedChanges < upTo) await this.refresh().catch(() => undefined);
  }

  /** Brings the known pictures up to date, or joins a refresh in progress. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#inTurn(() => this.#refresh()).finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  /** Runs `work` for each known picture at an interval, in a separate loop, until disposal. */
  attend(
    name: string,
    intervalMs: number,
    work: (organizationId: OrganizationId, picture: Picture) => Promise<void>,
  ): AsyncDisposable {
    const round = async (signal: AbortSignal) => {
      for (const [organizationId, picture] of this.all()) {
        if (signal.aborted) return;
        await work(organizationId, picture);
      }
    };
    return background(name, (signal) => every(intervalMs, round, signal), this.#options.log);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loops.disposeAsync();
  }

  #loadOnce(organizationId: OrganizationId): Promise<Picture> {
    const underWay = this.#loading.get(organizationId);
    if (underWay !== undefined) return underWay;
    const loading = this.#load(organizationId).then(
      (picture) => {
        // It was marked outdated in the meantime, so it may be older than the change that triggered
        // the load.
        if (this.#loading.get(organizationId) !== loading) return this.#again(organizationId);
        this.#loading.delete(organizationId);
        this.#known.set(organizationId, { picture, usedAt: performance.now(), isOld: false });
        this.#options.onLoaded?.(organizationId, picture);
        return picture;
      },
      (error: unknown) => {
        if (this.#loading.get(organizationId) === loading) this.#loading.delete(organizationId);
        throw error;
      },
    );
    this.#loading.set(organizationId, loading);
    return loading;
  }

  #load(organizationId: OrganizationId): Promise<Picture> {
    const { load, catchUp } = this.#options;
    if (catchUp === undefined) return this.#inTurn(() => load(organizationId));
    return load(organizationId).then((picture) =>
      this.#inTurn(async () => {
        await catchUp(organizationId, picture);
        return picture;
      }),
    );
  }

  async #again(organizationId: OrganizationId): Promise<Picture> {
    return this.find(organizationId) ?? this.#loadOnce(organizationId);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const { pollMs, keeps = 'used' } = this.#options;
    while (!signal.aborted) {
      await sleep(pollMs, signal);
      if (signal.aborted || (keeps === 'used' && this.#known.size === 0)) continue;
      await this.refresh();
      if (keeps === 'used') this.#forgetUnused();
    }
  }

  async #refresh(): Promise<void> {
    const upTo = this.#changes;
    try {
      const before = new Map(this.all());
      const changed = await this.#options.refresh(before);
      for (const [organizationId, picture] of changed ?? []) {
        this.#replace(organizationId, before.get(organizationId) ?? null, picture);
      }
      this.#appliedChanges = Math.max(this.#appliedChanges, upTo);
    } finally {
      this.#triedChanges = Math.max(this.#triedChanges, upTo);
    }
  }

  #replace(organizationId: OrganizationId, before: Picture | null, picture: Picture | null): void {
    const known = this.#known.get(organizationId);
    // It was marked outdated during the refresh, so what was read may be older than the change.
    if (before !== null && (known?.picture !== before || known.isOld)) return;
    if (picture === null) this.#known.delete(organizationId);
    else {
      const usedAt = known?.usedAt ?? performance.now();
      this.#known.set(organizationId, { picture, usedAt, isOld: false });
    }
  }

  #forgetUnused(): void {
    const limit = performance.now() - forgetAfterMs;
    for (const [organizationId, { usedAt }] of this.#known) {
      if (usedAt < limit) this.#known.delete(organizationId);
    }
  }
}
