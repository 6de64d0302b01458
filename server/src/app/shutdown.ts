/**
 * The order of a shutdown. Each step ends before the next begins, so nothing is taken away from what
 * still works with it.
 */
export const shutdownOrder = [
  /** New requests are refused; those under way are answered. */
  'server',
  /** What routes have opened: the event intake stores what it has accepted. */
  'routes',
  /** Jobs under way are handed back to the queue. */
  'jobs',
  'chores',
  /** Long-running work: the webhook sender, the projections. */
  'services',
  'features',
  'egress',
  'metrics',
  'database',
  /** The embedded server, where there is one. */
  'postgres',
  /** Another process may own the data directory from here on. */
  'data directory',
] as const;

type ShutdownStep = (typeof shutdownOrder)[number];

/** Everything that has to be closed. Disposing closes it in the order above. */
export class Shutdown implements AsyncDisposable {
  readonly #opened = new Map<ShutdownStep, (AsyncDisposable | Disposable)[]>();

  /** Within a step, what was added last is closed first. */
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
