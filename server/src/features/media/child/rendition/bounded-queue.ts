/**
 * Passes items from one stage of a task to the next and slows down the faster stage.
 *
 * Supports one producer and one consumer. A failing stage ends the whole task and its process, so
 * the queue has no error state.
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

  /** Resolves once there is room again. A producer that awaits it stays within capacity. */
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
