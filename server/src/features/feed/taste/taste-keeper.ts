/** Keeps the item vectors of this process's indexes in sync with the tables. */
import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { background, sleep } from '../../../platform/async/lifecycle.ts';
import type { OrganizationIndex } from '../items/organization-index.ts';
import { ItemVectors } from './item-vectors.ts';
import { selectModel, selectVersions } from './taste-queries.ts';

type Indexes = {
  all(): Iterable<readonly [OrganizationId, OrganizationIndex]>;
};

const lookMs = 1_000;

export class TasteKeeper implements AsyncDisposable {
  readonly #db: Db;
  readonly #indexes: Indexes;
  readonly #versions = new WeakMap<OrganizationIndex, number>();
  readonly #loop: AsyncDisposable;

  constructor(db: Db, indexes: Indexes, log: Logger) {
    this.#db = db;
    this.#indexes = indexes;
    this.#loop = background('item vectors', (signal) => this.#run(signal), log);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }

  async load(organizationId: OrganizationId, index: OrganizationIndex): Promise<void> {
    const rows = await selectModel(this.#db, organizationId);
    const [first] = rows;
    if (first === undefined) return;
    const { mean, spread, version } = first;
    const bytes = Buffer.concat(rows.flatMap((row) => row.bytes ?? []));
    index.vectors = bytes.length === 0 ? null : new ItemVectors({ mean, spread }, bytes);
    this.#versions.set(index, version);
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(lookMs, signal);
      const indexes = new Map(this.#indexes.all());
      if (indexes.size === 0) continue;
      for (const { organizationId, version } of await selectVersions(this.#db, [
        ...indexes.keys(),
      ])) {
        const id = organizationId as OrganizationId;
        const index = indexes.get(id);
        if (index === undefined || this.#versions.get(index) === version) continue;
        await this.load(id, index);
      }
    }
  }
}
