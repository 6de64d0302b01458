/**
 * The order of a shutdown. Each step ends before the next begins, so nothing is closed while it is
 * still in use.
 */
export const shutdownOrder = [
  /** Refuses new requests and answers those in flight. */
  'server',
  /** Resources that routes opened. The event intake stores what it has accepted. */
  'routes',
  /** Running jobs are returned to the queue. */
  'jobs',
  'chores',
  /** Long-running work, such as the webhook sender and the projections. */
  'services',
  'features',
  'egress',
  'metrics',
  'database',
  /** The embedded server, if there is one. */
  'postgres',
  /** From here on another process may own the data directory. */
  'data directory',
] as const;

type ShutdownStep = (typeof shutdownOrder)[number];

/** Collects resources. Disposing of it closes them in the order above. */
export class Shutdown implements AsyncDisposable {
  readonly #opened = new Map<ShutdownStep, (AsyncDisposable | Disposable)[]>();

  /** Within a step, resources close in reverse order of addition. */
  add<Resource extends AsyncDisposable | Disposable>(
    step: ShutdownStep,
    resource: Resource,
  ): Resource {
    this.#opened.set(step, [...(this.#opened.get(step) ?? []), resource]);
    return resource;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stack = new AsyncDisposableStack();
    for (const step of shutdownOrder.toReversed()) {
      for (const resource of this.#opened.get(step) ?? []) stack.use(resource);
    }
    this.#opened.clear();
    await stack.disposeAsync();
  }
}
