import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { background, sleep } from '../../../platform/lifecycle.ts';
import { baseConfig, mergeConfig, type RankingConfig } from '../ranking/config.ts';
import type { EditorialRule } from '../ranking/editorial.ts';
import { selectConfig, selectRevisions, selectRules, type RuleRow } from './settings-queries.ts';

export type RankingSettings = {
  /** 0: the organization has no configuration of its own. */
  readonly version: number;
  readonly config: RankingConfig;
  /** When it was chosen, in milliseconds of the Unix epoch. */
  readonly setAtMs: number;
  readonly rules: readonly EditorialRule[];
};

type Known = { readonly settings: RankingSettings; readonly revision: number; usedAt: number };

/** Changes of other processes are seen after this long at most. */
const pollMs = 400;
const forgetAfterMs = 30 * 60_000;
export const maxRules = 200;

/** What organizations have decided about their ranking, in memory. */
export class SettingsReader implements AsyncDisposable {
  readonly #db: Db;
  readonly #known = new Map<OrganizationId, Known>();
  readonly #loading = new Map<OrganizationId, Promise<RankingSettings>>();
  readonly #polling: AsyncDisposable;
  #changes = 0;

  constructor(db: Db, log: Logger) {
    this.#db = db;
    this.#polling = background('ranking settings', (signal) => this.#poll(signal), log);
  }

  async of(organizationId: OrganizationId): Promise<RankingSettings> {
    const known = this.#known.get(organizationId);
    if (known !== undefined) {
      known.usedAt = performance.now();
      return known.settings;
    }
    let loading = this.#loading.get(organizationId);
    if (loading === undefined) {
      loading = this.#load(organizationId).finally(() => this.#loading.delete(organizationId));
      this.#loading.set(organizationId, loading);
    }
    return loading;
  }

  /** This process has committed a change: the next page follows it. */
  markChanged(organizationId: OrganizationId): void {
    this.#changes += 1;
    this.#known.delete(organizationId);
    this.#loading.delete(organizationId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#polling[Symbol.asyncDispose]();
  }

  async #load(organizationId: OrganizationId): Promise<RankingSettings> {
    const changes = this.#changes;
    // The revision first: what is changed meanwhile is read again with the next poll.
    const [revision] = await selectRevisions(this.#db, [organizationId]);
    const [config, rules] = await Promise.all([
      selectConfig(this.#db, organizationId),
      selectRules(this.#db, organizationId, { limit: maxRules, after: null }),
    ]);
    const settings: RankingSettings = {
      version: config?.version ?? 0,
      config: mergeConfig(baseConfig, config?.config ?? {}),
      setAtMs: config?.createdAt.getTime() ?? -Infinity,
      rules: rules.map(toEditorialRule),
    };
    // What was read may be older than a change that this process has made meanwhile.
    if (changes !== this.#changes) return this.#load(organizationId);
    const known = { settings, revision: revision?.revision ?? 0, usedAt: performance.now() };
    this.#known.set(organizationId, known);
    return settings;
  }

  async #poll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(pollMs, signal);
      if (this.#known.size === 0) continue;
      const limit = performance.now() - forgetAfterMs;
      const revisions = await selectRevisions(this.#db, [...this.#known.keys()]);
      for (const { organizationId, revision } of revisions) {
        const known = this.#known.get(organizationId);
        if (known !== undefined && known.revision !== revision) await this.#load(organizationId);
      }
      for (const [id, { usedAt }] of this.#known) if (usedAt < limit) this.#known.delete(id);
    }
  }
}

export function toEditorialRule(row: Omit<RuleRow, 'createdAt' | 'updatedAt'>): EditorialRule {
  const { type, match, factor, position, startsAt, endsAt } = row;
  return {
    type,
    match,
    factor,
    position,
    startsAtMs: startsAt?.getTime() ?? -Infinity,
    endsAtMs: endsAt?.getTime() ?? Infinity,
  };
}
