/**
 * A limited number of places that many owners share fairly.
 *
 *   take ── a place is free ─────────────▶ holds a place ── disposed ──▶ gone
 *     └──▶ waits ── its owner's turn ──────┘
 *            └── aborted, waited too long, or displaced ──▶ BusyError or the signal's reason
 *
 * 1. At most `places` are held, and at most `maxWaiting` callers wait.
 * 2. An owner waits for at most one turn of each other owner, no matter how long their queues are.
 *    Turns are numbered (start-time fair queueing), so leaving and coming back gains nothing.
 * 3. When the queues are full, the longest queue loses its last entry, which may be the new one.
 */
export type FairTurnsLimits = {
  readonly places: number;
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
};

/** All places are taken, and too many callers are waiting. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

type Waiter = { readonly proceed: () => void; readonly refuse: (reason: unknown) => void };

export class FairTurns {
  readonly #limits: FairTurnsLimits;
  readonly #lines = new Map<string, Waiter[]>();
  /** The number of each owner's next turn, while that is ahead of the current turn. */
  readonly #nextTurns = new Map<string, number>();
  #turn = 0;
  #held = 0;
  #waiting = 0;

  constructor(limits: FairTurnsLimits) {
    this.#limits = limits;
  }

  get held(): number {
    return this.#held;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** @throws BusyError if a new caller of this owner would be rejected immediately */
  requireRoom(owner: string): void {
    if (this.#waiting < this.#limits.maxWaiting) return;
    if (this.#lengthOf(owner) >= this.#longest().length) throw new BusyError();
  }

  /**
   * Waits for a place, which is released when the result is disposed of.
   *
   * @throws BusyError, or the signal's reason
   */
  async take(owner: string, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#held < this.#limits.places) this.#begin(owner);
    else await this.#wait(owner, signal);
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#held -= 1;
        this.#letIn();
      },
    };
  }

  async #wait(owner: string, signal: AbortSignal): Promise<void> {
    this.requireRoom(owner);
    if (this.#waiting >= this.#limits.maxWaiting) this.#longest().at(-1)?.refuse(new BusyError());
    const { promise, resolve: proceed, reject } = Promise.withResolvers<void>();
    const refuse = (reason: unknown) => {
      this.#leave(owner, waiter);
      reject(reason);
    };
    const waiter = { proceed, refuse };
    const line = this.#lines.get(owner) ?? [];
    this.#lines.set(owner, line);
    line.push(waiter);
    this.#waiting += 1;
    const onAbort = () => refuse(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(() => refuse(new BusyError()), this.#limits.maxWaitMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  #leave(owner: string, waiter: Waiter): void {
    const line = this.#lines.get(owner) ?? [];
    const place = line.indexOf(waiter);
    if (place === -1) return;
    line.splice(place, 1);
    this.#waiting -= 1;
    if (line.length === 0) this.#lines.delete(owner);
  }

  #begin(owner: string): void {
    this.#held += 1;
    this.#turn = this.#turnOf(owner);
    this.#nextTurns.set(owner, this.#turn + 1);
    for (const [other, turn] of this.#nextTurns) {
      if (turn <= this.#turn) this.#nextTurns.delete(other);
    }
  }

  /**
   * Gives a free place to the queue whose turn has the lowest number; on a tie, to the oldest
   * queue.
   */
  #letIn(): void {
    let next: string | null = null;
    for (const owner of this.#lines.keys()) {
      if (next === null || this.#turnOf(owner) < this.#turnOf(next)) next = owner;
    }
    const waiter = next === null ? undefined : this.#lines.get(next)?.[0];
    if (next === null || waiter === undefined) return;
    this.#leave(next, waiter);
    this.#begin(next);
    waiter.proceed();
  }

  #turnOf(owner: string): number {
    return this.#nextTurns.get(owner) ?? this.#turn;
  }

  #lengthOf(owner: string): number {
    return this.#lines.get(owner)?.length ?? 0;
  }

  #longest(): readonly Waiter[] {
    let longest: readonly Waiter[] = [];
    for (const line of this.#lines.values()) if (line.length > longest.length) longest = line;
    return longest;
  }
}
