/** The rungs of one publisher's broadcast: produced by its ladder, stored by its rung publisher. */
import type { StoredTop, RungPublisherParts } from './rung-publisher.ts';
import { RungPublisher } from './rung-publisher.ts';
import { LiveLadder, type LadderOptions, type RungState, type TopPicture } from './live-ladder.ts';
import type { LiveFiles } from '../ingest/live-files.ts';

export type RungsParts = Omit<RungPublisherParts, 'liveNames'> & { readonly ladder: LadderOptions };

export class Rungs {
  readonly #ladder: LiveLadder;
  readonly #publisher: RungPublisher;

  constructor({ ladder, ...parts }: RungsParts) {
    this.#ladder = new LiveLadder(ladder, parts.log, (segment, rung) =>
      this.#publisher.take(segment, rung),
    );
    const liveNames = () => this.#ladder.liveNames;
    this.#publisher = new RungPublisher({ ...parts, liveNames });
  }

  get states(): RungState[] {
    return this.#ladder.states;
  }

  /** Whether every active rung has its segment with this number. */
  hasMade(number: number): boolean {
    return this.#publisher.madeOf(number) >= this.#ladder.liveNames.size;
  }

  /** Passes on pictures without waiting. */
  take(pictures: readonly TopPicture[]): void {
    this.#ladder.take(pictures);
  }

  topStored(files: LiveFiles, top: StoredTop): void {
    this.#publisher.topStored(files, top);
  }

  /** Call after the last picture. Resolves when the last segments are stored, or on timeout. */
  async finish(): Promise<void> {
    await this.#ladder.finish();
    await this.#publisher.settled();
  }
}
