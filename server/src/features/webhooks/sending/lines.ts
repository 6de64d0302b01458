/**
 * Determines which lines the next claim looks at. A claim that looks at all lines finds everything,
 * but its cost grows with the number of webhooks that have queued deliveries and with the
 * deliveries sent since the last vacuum. Therefore:
 *
 * 1. At most half of the time is spent on looks at all lines. The first delivery of a webhook waits
 *    for such a look.
 * 2. Between two such looks, claims cover webhooks that have an allowance and are known from their
 *    latest sends, so even a hundred hanging webhooks do not delay a healthy one. Long lines are
 *    continued from where the last claim ended. Anything before that position, such as a retry or
 *    the result of a slow transaction, waits for the next look, as does the first delivery of
 *    another webhook.
 */
import { lineStart, type ClaimedDelivery, type LinePosition } from './claim-queries.ts';

/** A line is long if a claim takes at least this many deliveries from it. */
const longFrom = 32;

export class Lines {
  readonly #positions = new Map<string, LinePosition>();
  #lookFrom = Number.NEGATIVE_INFINITY;
  /** Whether there was a reason to claim since the last look at all lines. */
  #isLookWanted = false;

  /** Time until the next look if one is wanted, otherwise Infinity. */
  untilLookMs(now: number): number {
    return this.#isLookWanted ? Math.max(0, this.#lookFrom - now) : Infinity;
  }

  /**
   * @param allowances maximum deliveries per webhook
   * @returns where to continue reading, or null if it is time to look at all lines
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

  /** Reports a look at all lines. */
  looked(startedAt: number, endedAt: number, claimed: readonly ClaimedDelivery[]): void {
    this.#isLookWanted = false;
    // A look that took 3 ms is followed by the next after 3 ms at the earliest.
    this.#lookFrom = endedAt + (endedAt - startedAt);
    for (const [webhookId, { count, position }] of endsOf(claimed)) {
      if (count >= longFrom) this.#positions.set(webhookId, position);
    }
  }

  /** Reports lines that were continued as far as their allowances permit. */
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

/** Number of claimed deliveries per webhook, and the position after the last one. */
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
