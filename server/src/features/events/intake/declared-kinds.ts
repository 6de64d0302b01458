/** Caches the custom kinds that an organization accepts, which other features declare. */
import type { Db } from '../../../platform/database/database.ts';
import { extensionPoint } from '../../../platform/feature/extension-point.ts';

export type DeclaredKinds = (db: Db, organizationId: string) => Promise<readonly string[]>;

/** Features that declare custom kinds register here. */
export const declaredKinds = extensionPoint<DeclaredKinds>('declared kinds of events');

/**
 * Short, so that a kind is accepted right after its declaration, no matter which process handled
 * that.
 */
const knownForMs = 300;
const maxRemembered = 10_000;

export class KnownKinds {
  readonly #db: Db;
  readonly #declared: readonly DeclaredKinds[];
  readonly #remembered = new Map<
    string,
    { kinds: Promise<ReadonlySet<string>>; untilMs: number }
  >();

  constructor(db: Db, declared: readonly DeclaredKinds[]) {
    this.#db = db;
    this.#declared = declared;
  }

  /** Concurrent calls share one read. */
  of(organizationId: string): Promise<ReadonlySet<string>> {
    const nowMs = performance.now();
    const known = this.#remembered.get(organizationId);
    if (known !== undefined && known.untilMs > nowMs) return known.kinds;
    if (this.#remembered.size >= maxRemembered) this.#remembered.clear();
    const kinds = this.#read(organizationId);
    this.#remembered.set(organizationId, { kinds, untilMs: nowMs + knownForMs });
    kinds.catch(() => this.#remembered.delete(organizationId));
    return kinds;
  }

  async #read(organizationId: string): Promise<ReadonlySet<string>> {
    const lists = await Promise.all(this.#declared.map((read) => read(this.#db, organizationId)));
    return new Set(lists.flat());
  }
}
