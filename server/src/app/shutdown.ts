/**
 * The order of a shutdown. Each step ends before the next begins, so nothing is closed while
 * something still uses it.
 */
export const shutdownOrder = [
  /** New requests are refused; those under way are answered. */
  'server',
  /** Resources that routes opened. The event intake stores what it has accepted. */
  'routes',
  /** Running jobs are released to the queue. */
  'jobs',
  'chores',
  /** Long-running work: the webhook sender, the projections. */
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

/** Collects resources. Disposing closes them in the order above. */
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
