/**
 * Connections to brokers, one per webhook and credentials. Idle connections are closed, as are old
 * ones, because their address may belong to someone else by now.
 */
import { createHash } from 'node:crypto';
import type { Target } from './driver.ts';

export type Connection = {
  /** Closes it and fails everything waiting for it. Must not throw. */
  close(): void;
  readonly isOpen: boolean;
};

const idleMs = 60_000;
const maxAgeMs = 300_000;
const maxConnections = 500;

type Entry<T> = { readonly opening: Promise<T>; readonly openedAt: number; usedAt: number };

export class Connections<T extends Connection> implements AsyncDisposable {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #sweeping: NodeJS.Timeout;

  constructor() {
    this.#sweeping = setInterval(() => this.#sweep(), idleMs / 4).unref();
  }

  /** Returns the named connection, opening it if necessary. */
  async use(name: string, open: () => Promise<T>): Promise<T> {
    const now = performance.now();
    const known = this.#entries.get(name);
    if (known !== undefined && now - known.openedAt < maxAgeMs) {
      known.usedAt = now;
      const connection = await known.opening;
      if (connection.isOpen) return connection;
    }
    // While this call waited, another may have replaced the closed connection.
    if (this.#entries.get(name) !== known) return this.use(name, open);
    this.#retire(name);
    const entry = { opening: open(), openedAt: now, usedAt: now };
    this.#entries.set(name, entry);
    this.#closeOldest();
    try {
      return await entry.opening;
    } catch (error) {
      if (this.#entries.get(name) === entry) this.#entries.delete(name);
      throw error;
    }
  }

  /** Closes a connection that is no longer usable. */
  drop(name: string): void {
    const entry = this.#entries.get(name);
    this.#entries.delete(name);
    if (entry !== undefined) closeWhenOpen(entry);
  }

  /** Replaces a connection; work in progress on it may finish. */
  #retire(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    this.#entries.delete(name);
    setTimeout(() => closeWhenOpen(entry), idleMs).unref();
  }

  #sweep(): void {
    const now = performance.now();
    for (const [name, { usedAt }] of this.#entries) if (now - usedAt > idleMs) this.drop(name);
  }

  #closeOldest(): void {
    if (this.#entries.size <= maxConnections) return;
    const [oldest] = [...this.#entries].toSorted(([, a], [, b]) => a.usedAt - b.usedAt);
    if (oldest !== undefined) this.drop(oldest[0]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweeping);
    for (const name of this.#entries.keys()) this.drop(name);
  }
}

function closeWhenOpen({ opening }: Entry<Connection>): void {
  opening.then(
    (connection) => connection.close(),
    () => undefined,
  );
}

/** The name of a webhook's connection. Depends on the URL and the credentials. */
export function connectionName({ webhookId, url, destination, credentials }: Target): string {
  const given = JSON.stringify([webhookId, url, destination, credentials.destination]);
  return createHash('sha256').update(given).digest('base64');
}
