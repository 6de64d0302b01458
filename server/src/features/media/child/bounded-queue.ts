/**
 * Hands items from one stage of a task to the next and makes the faster stage wait.
 *
 * One producer, one consumer. A stage that fails ends the whole task and with it the process, so
 * a queue needs no way to fail.
 */
export class BoundedQueue<T> implements AsyncIterable<T> {
  readonly #capacity: number;
  readonly #items: T[] = [];
  #ended = false;
  #wakeProducer: (() => void) | null = null;
  #wakeConsumer: (() => void) | null = null;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Resolves once there is room again, so that a producer that awaits it stays within capacity. */
  async push(item: T): Promise<void> {
    this.#items.push(item);
    this.#wakeConsumer?.();
    while (this.#items.length >= this.#capacity) {
      await new Promise<void>((resolve) => {
        this.#wakeProducer = resolve;
      });
    }
  }

  end(): void {
    this.#ended = true;
    this.#wakeConsumer?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const item = this.#items.shift();
      if (item !== undefined) {
        this.#wakeProducer?.();
        yield item;
        continue;
      }
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wakeConsumer = resolve;
      });
    }
  }
}
