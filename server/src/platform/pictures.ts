/**
 * Pictures of organizations: what a process keeps of each in memory, so that requests are answered
 * without the database.
 *
 *   unknown ─ of ─▶ loading ─▶ known ─ refreshed by the poll, and after a change of this process
 *      ▲                         │
 *      └── not asked for in half an hour
 *
 * 1. Loads and refreshes run one after another, so that none applies an older state than the last. A
 *    load that takes long may run beside them, and only catch up in turn.
 * 2. After `markChanged`, `of` gives what this process has changed; changes of other processes are
 *    found by the poll.
 * 3. All who wait share one load of an organization and one refresh: in an outage they fail together,
 *    not one after another.
 * 4. Nothing is polled while nothing is known.
 */
import type { Logger } from 'pino';
import type { OrganizationId } from './ids.ts';
import { byDeadline } from './by-deadline.ts';
import { background, every, sleep } from './lifecycle.ts';

export type KnownPictures<Picture> = ReadonlyMap<OrganizationId, Picture>;

export type PictureOptions<Picture> = {
  /** The name of the loop, for the log. */
  readonly name: string;
  readonly log: Logger;
  /** Changes of other processes are seen after this long at most. */
  readonly pollMs: number;
  /** Reads a picture; nobody sees it before. With `catchUp`, it runs beside refreshes. */
  readonly load: (organizationId: OrganizationId) => Promise<Picture>;
  /** Applies what has changed since the load began. */
  readonly catchUp?: (organizationId: OrganizationId, picture: Picture) => Promise<void>;
  /** Called in the moment in which a picture that was loaded becomes known. */
  readonly onLoaded?: (organizationId: OrganizationId, picture: Picture) => void;
  /**
   * Brings the known pictures up to date, in place or by returning others for them. A picture that
   * comes back as null is forgotten.
   */
  readonly refresh: (
    known: KnownPictures<Picture>,
  ) => Promise<ReadonlyMap<OrganizationId, Picture | null> | null>;
  /**
   * `used`: of organizations that are asked for. `all`: of those that a refresh returns, which are
   * few or small; it polls always and forgets none by itself.
   */
  readonly keeps?: 'used' | 'all';
};

type Known<Picture> = {
  readonly picture: Picture;
  usedAt: number;
  /** This process has committed a change of the organization since. */
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
  /** Changes of this process: made, in the pictures, and in a refresh that has ended, failed or not. */
  #changes = 0;
  #appliedChanges = 0;
  #triedChanges = 0;

  constructor(options: PictureOptions<Picture>) {
    this.#options = options;
    const { name, log } = options;
    this.#loops.use(background(name, (signal) => this.#poll(signal), log));
  }

  /**
   * The picture of an organization, with all that this process has changed before.
   *
   * @param deadline on the clock of `performance.now`; from then on, a picture that is known is good
   *   enough
   */
  async of(organizationId: OrganizationId, deadline = Infinity): Promise<Picture> {
    const upTo = this.#changes;
    const known = this.#known.get(organizationId);
    if (known === undefined || known.isOld) await this.#loadOnce(organizationId);
    // A refresh that was under way may have begun before the change, so this can take a second one.
    while (this.#appliedChanges < upTo && performance.now() < deadline) {
      await byDeadline(this.refresh(), deadline);
    }
    return this.find(organizationId) ?? this.#again(organizationId);
  }

  /** The picture if it is in memory and no change of its organization is known; else null. */
  find(organizationId: OrganizationId): Picture | null {
    const known = this.#known.get(organizationId);
    if (known === undefined || known.isOld) return null;
    known.usedAt = performance.now();
    return known.picture;
  }

  /** The picture that is in memory, which may lack changes; null where there is none. */
  peek(organizationId: OrganizationId): Picture | null {
    return this.#known.get(organizationId)?.picture ?? null;
  }

  *all(): Generator<readonly [OrganizationId, Picture]> {
    for (const [organizationId, { picture }] of this.#known) yield [organizationId, picture];
  }

  get size(): number {
    return this.#known.size;
  }

  /** Tells that this process has committed a change of any organization. */
  markChanged(): void {
    this.#changes += 1;
  }

  /**
   * Tells that this process has committed a change of one organization, which is then read anew. Until
   * then only `peek` gives the picture.
   */
  outdate(organizationId: OrganizationId): void {
    const known = this.#known.get(organizationId);
    if (known !== undefined) known.isOld = true;
    this.#loading.delete(organizationId);
  }

  /**
   * Waits until the changes of this process are in the pictures, once: where the database fails, what
   * was known before is the best there is, and the poll goes on trying.
   */
  async settled(): Promise<void> {
    const upTo = this.#changes;
    while (this.#triedChanges < upTo) await this.refresh().catch(() => undefined);
  }

  /** Brings the known pictures up to date, or joins a refresh that is under way. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#inTurn(() => this.#refresh()).finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  /** Does `work` with each known picture at an interval, in a loop of its own, until the end. */
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
        // It was outdated meanwhile, so it may be older than the change that was the reason.
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
    // Outdated during the refresh: what was read may be older than the change.
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
