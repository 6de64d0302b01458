/** How far ahead of its pictures sound may be encoded, in seconds: what waits is in memory. */
const MAX_AHEAD_SECONDS = 30;

/**
 * Keeps sound beside its pictures. Sound is read and encoded by itself, since a file may have none for
 * minutes while the pictures go on; pictures never wait for it.
 */
export class Pace {
  #pictureSeconds = 0;
  #isOver = false;
  #wake: (() => void)[] = [];

  /** The pace of pictures that are not made in their order: sound does not wait for them. */
  static known(pictureSeconds: number): Pace {
    const pace = new Pace();
    pace.reached(pictureSeconds);
    pace.end();
    return pace;
  }

  /** The pictures up to this time are decoded. */
  reached(seconds: number): void {
    this.#pictureSeconds = Math.max(this.#pictureSeconds, seconds);
    this.#wakeAll();
  }

  /** There are no more pictures. */
  end(): void {
    this.#isOver = true;
    this.#wakeAll();
  }

  /** Resolves once sound of this time may be encoded. */
  async room(soundSeconds: number): Promise<void> {
    await this.#until(() => soundSeconds <= this.#pictureSeconds + MAX_AHEAD_SECONDS);
  }

  /** Resolves once there are pictures to this time, or no more; says how far they reach. */
  async beyond(seconds: number): Promise<{ pictureSeconds: number; isOver: boolean }> {
    await this.#until(() => this.#pictureSeconds >= seconds);
    return { pictureSeconds: this.#pictureSeconds, isOver: this.#isOver };
  }

  async #until(isThere: () => boolean): Promise<void> {
    while (!this.#isOver && !isThere()) {
      await new Promise<void>((resolve) => {
        this.#wake.push(resolve);
      });
    }
  }

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
