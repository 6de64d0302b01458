/**
 * Limits how far ahead of the video audio is encoded, in seconds, because waiting packets are held
 * in memory.
 */
const MAX_AHEAD_SECONDS = 30;

/**
 * Keeps audio in step with video. Audio is read and encoded separately, because a file may have
 * none for minutes while the video continues; video never waits for audio.
 */
export class AudioPace {
  #pictureSeconds = 0;
  #isOver = false;
  #wake: (() => void)[] = [];

  /** A pace for video that is produced out of order: audio does not wait for it. */
  static known(pictureSeconds: number): AudioPace {
    const pace = new AudioPace();
    pace.reached(pictureSeconds);
    pace.end();
    return pace;
  }

  /** Reports that video has been decoded up to this time. */
  reached(seconds: number): void {
    this.#pictureSeconds = Math.max(this.#pictureSeconds, seconds);
    this.#wakeAll();
  }

  end(): void {
    this.#isOver = true;
    this.#wakeAll();
  }

  /** Resolves once audio of this time may be encoded. */
  async room(soundSeconds: number): Promise<void> {
    await this.#until(() => soundSeconds <= this.#pictureSeconds + MAX_AHEAD_SECONDS);
  }

  /** Resolves with the video's position once it reaches this time or the video has ended. */
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
