import type { Tx } from '../../../platform/database/database.ts';
import { clockOf, type ZoneClock } from '../../../platform/zone-clock.ts';
import type { EventBlock } from '../../events/events.ts';
import { OrganizationClocks } from '../../organizations/organizations.ts';

/**
 * Gives each block to a collector with the clock of its organization. Collecting cannot wait for the
 * database, so blocks of organizations whose clock is not known yet wait for the next write.
 */
export class ClockedBlocks {
  readonly #collect: (block: EventBlock, clock: ZoneClock) => void;
  readonly #clocks = new OrganizationClocks();
  readonly #organizations = new Set<string>();
  #waiting: EventBlock[] = [];

  constructor(collect: (block: EventBlock, clock: ZoneClock) => void) {
    this.#collect = collect;
  }

  add(blocks: readonly EventBlock[]): void {
    for (const block of blocks) {
      this.#organizations.add(block.organizationId);
      const clock = this.#clocks.of(block.organizationId);
      if (clock === undefined) this.#waiting.push(block);
      else this.#collect(block, clock);
    }
  }

  /** Collects what has waited; call it before a pass is written. */
  async settle(tx: Tx): Promise<void> {
    await this.#clocks.load(tx, this.#organizations);
    const waiting = this.#waiting;
    this.forget();
    for (const block of waiting) {
      this.#collect(block, this.#clocks.of(block.organizationId) ?? clockOf('UTC'));
    }
  }

  forget(): void {
    this.#waiting = [];
    this.#organizations.clear();
  }
}
