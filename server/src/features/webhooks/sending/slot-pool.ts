/**
 * Slots shared by organizations, and the webhooks that wait for them.
 *
 * 1. The next slot goes to the organization with the fewest slots, and within it to the webhook
 *    with the fewest sends in flight. A slot is held for as long as the receiver takes, so equal
 *    numbers mean equal shares of time, whether a send takes 5 ms or 2 s.
 * 2. An organization may hold at most `share` times as many slots as it leaves free, and a webhook
 *    three times as many as it leaves to its organization. Only an organization that holds no slot
 *    can therefore take the last one, so a newcomer always finds one, no matter how greedy the
 *    others are. These are dynamic thresholds (Choudhury and Hahne, "Dynamic queue length
 *    thresholds for shared-memory packet switches", 1998).
 */
export type PoolLimits = { readonly size: number; readonly share: number };

const webhookShare = 3;
/** Beyond this number, organizations without a slot are forgotten. */
const maxIdleOrganizations = 1_000;

export class SlotPool {
  readonly #limits: PoolLimits;
  readonly #heldBy = new Map<string, number>();
  /** Waiting webhooks by organization, least recently served organization first. */
  readonly #waiting = new Map<string, string[]>();
  #held = 0;

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  get isWaitedFor(): boolean {
    return this.#waiting.size > 0;
  }

  take(organizationId: string): void {
    this.#held += 1;
    this.#heldBy.set(organizationId, (this.#heldBy.get(organizationId) ?? 0) + 1);
  }

  giveBack(organizationId: string): void {
    this.#held -= 1;
    const held = (this.#heldBy.get(organizationId) ?? 0) - 1;
    if (held === 0 && this.#heldBy.size > maxIdleOrganizations) this.#heldBy.delete(organizationId);
    else this.#heldBy.set(organizationId, held);
  }

  wait(organizationId: string, webhookId: string): void {
    const webhooks = this.#waiting.get(organizationId);
    if (webhooks === undefined) this.#waiting.set(organizationId, [webhookId]);
    else webhooks.push(webhookId);
  }

  /**
   * @param sendsOf number of a webhook's sends in flight
   * @returns the webhook whose turn it is, removed from the waiting list, or null if none may start
   */
  next(sendsOf: (webhookId: string) => number): string | null {
    const free = this.#limits.size - this.#held;
    if (free <= 0 || this.#waiting.size === 0) return null;
    const [organizationId, held] = leastOf(this.#waiting.keys(), (id) => this.#heldBy.get(id) ?? 0);
    const webhooks = this.#waiting.get(organizationId) ?? [];
    const [webhookId, sends] = leastOf(webhooks, sendsOf);
    const { share } = this.#limits;
    if (held > 0 && held >= (free - 1) * share) return null;
    if (sends > 0 && sends >= ((free - 1) * share - held - 1) * webhookShare) return null;
    webhooks.splice(webhooks.indexOf(webhookId), 1);
    this.#waiting.delete(organizationId);
    if (webhooks.length > 0) this.#waiting.set(organizationId, webhooks);
    return webhookId;
  }
}

/** The first id with the lowest count; a count of zero ends the search. */
function leastOf(ids: Iterable<string>, countOf: (id: string) => number): [string, number] {
  let found = '';
  let least = Infinity;
  for (const id of ids) {
    const count = countOf(id);
    if (count >= least) continue;
    found = id;
    least = count;
    if (count === 0) break;
  }
  return [found, least];
}
