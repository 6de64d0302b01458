import type { Tx } from '../../../platform/database/database.ts';
import { clockOf, type ZoneClock } from '../../../platform/values/zone-clock.ts';
import type { EventBlock } from '../../events/events.ts';
import { OrganizationClocks, type ViewerSecrets } from '../../organizations/organizations.ts';

/**
 * Passes each block to a collector together with its organization's clock. Collecting is
 * synchronous, so blocks of organizations whose clock (or viewer secret, if the collector hashes
 * viewers) is not loaded yet wait for the next write.
 */
export class ClockedBlocks {
  readonly #collect: (block: EventBlock, clock: ZoneClock) => void;
  readonly #clocks = new OrganizationClocks();
  readonly #organizations = new Set<string>();
  readonly #secrets: ViewerSecrets | null;
  #waiting: EventBlock[] = [];

  constructor(
    collect: (block: EventBlock, clock: ZoneClock) => void,
    secrets: ViewerSecrets | null = null,
  ) {
    this.#collect = collect;
    this.#secrets = secrets;
  }

  add(blocks: readonly EventBlock[]): void {
    for (const block of blocks) {
      this.#organizations.add(block.organizationId);
      const clock = this.#clocks.of(block.organizationId);
      const hasSecret = this.#secrets?.has(block.organizationId) ?? true;
      if (clock === undefined || !hasSecret) this.#waiting.push(block);
      else this.#collect(block, clock);
    }
  }

  /** Collects the waiting blocks. Call it before a pass is written. */
  async settle(tx: Tx): Promise<void> {
    await this.#clocks.load(tx, this.#organizations);
    await this.#secrets?.load(tx, this.#organizations);
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
