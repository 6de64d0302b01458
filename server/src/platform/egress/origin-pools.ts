/**
 * Connection pools by origin. An address that was checked long ago may have a new owner, so a pool
 * is replaced at a certain age. Requests in flight finish on the old one.
 */
import type { Pool } from 'undici';
import type { ClientCertificate, EgressRequest } from './messages.ts';

type Connector = Pick<EgressRequest, 'clientCertificate' | 'isApart'>;
type OpenPool = (origin: string, certificate: ClientCertificate | undefined) => Pool;

export class OriginPools implements AsyncDisposable {
  readonly #open: OpenPool;
  readonly #maxAgeMs: number;
  readonly #pools = new Map<string, { readonly pool: Pool; readonly endsAt: number }>();
  readonly #retired = new Set<Pool>();
  readonly #sweeping: NodeJS.Timeout;

  constructor(open: OpenPool, maxAgeMs: number) {
    this.#open = open;
    this.#maxAgeMs = maxAgeMs;
    this.#sweeping = setInterval(() => this.#sweep(), maxAgeMs).unref();
  }

  /** @param origin scheme, host and port, as in `URL.origin` */
  of(origin: string, { clientCertificate, isApart = false }: Connector = {}): Pool {
    const now = performance.now();
    const name = `${origin} ${clientCertificate?.id ?? ''} ${isApart ? 'apart' : ''}`;
    const known = this.#pools.get(name);
    if (known !== undefined && now < known.endsAt) return known.pool;
    if (known !== undefined) this.#retire(name, known.pool);
    const pool = this.#open(origin, clientCertificate);
    this.#pools.set(name, { pool, endsAt: now + this.#maxAgeMs });
    return pool;
  }

  /** Closes the pools of origins that are no longer used. */
  #sweep(): void {
    const now = performance.now();
    for (const [name, { pool, endsAt }] of this.#pools) {
      if (now >= endsAt) this.#retire(name, pool);
    }
  }

  #retire(name: string, pool: Pool): void {
    this.#pools.delete(name);
    this.#retired.add(pool);
    // Rejects only if disposal has destroyed the pool in the meantime.
    void pool
      .close()
      .catch(() => undefined)
      .finally(() => this.#retired.delete(pool));
  }

  /** Ends requests in flight and closes all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweeping);
    const pools = [...this.#retired, ...Array.from(this.#pools.values(), ({ pool }) => pool)];
    await Promise.all(pools.map((pool) => pool.destroy()));
  }
}
