/**
 * Which lines the next claim looks at. A claim that looks at all lines finds everything, and costs
 * time for each webhook that has something queued, and for whatever has been sent since the last
 * vacuum. Hence:
 *
 * 1. At most half of the time goes to looking at all lines: the first delivery of a webhook waits
 *    for such a look.
 * 2. Between two such looks, claims look at the webhooks that may get something and are known from
 *    their latest sends: a hundred webhooks that hang delay no healthy one. Long lines are read on
 *    from where the last claim ended. What stands before that place, a retry or what came out of a
 *    slow transaction, waits for the next look, and so does the first delivery of another webhook.
 */
import { lineStart, type ClaimedDelivery, type LinePosition } from './claim-queries.ts';

/** A look at all lines that took 3 ms is followed by another one after 3 ms at the earliest. */
const pausePerLook = 1;
/** A line is long when a claim takes this many deliveries from it. */
const longFrom = 32;

export class Lines {
  /** Where the long lines go on. */
  readonly #positions = new Map<string, LinePosition>();
  #lookFrom = Number.NEGATIVE_INFINITY;
  /** Whether there was reason to claim since the last look at all lines. */
  #isLookWanted = false;

  /** How long to wait for the next look, if one is wanted; Infinity without a reason. */
  untilLookMs(now: number): number {
    return this.#isLookWanted ? Math.max(0, this.#lookFrom - now) : Infinity;
  }

  /**
   * @param allowances most deliveries of a webhook
   * @returns where to read on, or null when it is time to look at all lines
   */
  next(now: number, allowances: ReadonlyMap<string, number>): Map<string, LinePosition> | null {
    if (now >= this.#lookFrom) return null;
    this.#isLookWanted = true;
    const positions = new Map<string, LinePosition>();
    for (const [webhookId, allowance] of allowances) {
      if (allowance > 0) positions.set(webhookId, this.#positions.get(webhookId) ?? lineStart);
    }
    return positions;
  }

  /** All lines were looked at. */
  looked(startedAt: number, endedAt: number, claimed: readonly ClaimedDelivery[]): void {
    this.#isLookWanted = false;
    this.#lookFrom = endedAt + (endedAt - startedAt) * pausePerLook;
    for (const [webhookId, { count, position }] of endsOf(claimed)) {
      if (count >= longFrom) this.#positions.set(webhookId, position);
    }
  }

  /** These lines were read on, as far as their allowances went. */
  readOn(
    lines: ReadonlyMap<string, LinePosition>,
    allowances: ReadonlyMap<string, number>,
    claimed: readonly ClaimedDelivery[],
  ): void {
    const ends = endsOf(claimed);
    for (const webhookId of lines.keys()) {
      const end = ends.get(webhookId);
      const asked = Math.min(longFrom, allowances.get(webhookId) ?? 0);
      if (end === undefined || end.count < asked) this.#positions.delete(webhookId);
      else this.#positions.set(webhookId, end.position);
    }
  }
}

type LineEnd = { count: number; position: LinePosition };

/** How many deliveries of each webhook were claimed, and the place behind the last of them. */
function endsOf(claimed: readonly ClaimedDelivery[]): Map<string, LineEnd> {
  const ends = new Map<string, LineEnd>();
  for (const { webhookId, dueAtS, deliveryId } of claimed) {
    const end = ends.get(webhookId);
    if (end === undefined) {
      ends.set(webhookId, { count: 1, position: { dueAtS, deliveryId } });
      continue;
    }
    end.count += 1;
    const { position } = end;
    const isLater =
      dueAtS > position.dueAtS || (dueAtS === position.dueAtS && deliveryId > position.deliveryId);
    if (isLater) end.position = { dueAtS, deliveryId };
  }
  return ends;
}
