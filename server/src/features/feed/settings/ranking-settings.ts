import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { Pictures, type KnownPictures } from '../../../platform/memory/pictures.ts';
import { baseConfig, mergeConfig, type RankingConfig } from '../ranking/config.ts';
import type { EditorialRule } from '../ranking/editorial.ts';
import type { WatchModel } from '../learned/learned-scorer.ts';
import { selectTraining } from '../learned/model-queries.ts';
import { usableModel } from '../learned/model-state.ts';
import { selectConfig, selectRevisions, selectRules, type RuleRow } from './settings-queries.ts';

export type RankingSettings = {
  /** 0 if the organization has no configuration of its own. */
  readonly version: number;
  readonly config: RankingConfig;
  /** When it was set, in milliseconds since the Unix epoch. */
  readonly setAtMs: number;
  readonly rules: readonly EditorialRule[];
  /** The accepted model of watch time, or null. */
  readonly watchModel: WatchModel | null;
};

type Known = { readonly settings: RankingSettings; readonly revision: number };

const pollMs = 400;
export const maxRules = 200;

/** In-memory copies of organizations' ranking settings. */
export class SettingsReader implements AsyncDisposable {
  readonly #db: Db;
  readonly #pictures: Pictures<Known>;

  constructor(db: Db, log: Logger) {
    this.#db = db;
    this.#pictures = new Pictures({
      name: 'ranking settings',
      log,
      pollMs,
      load: (organizationId) => this.#load(organizationId),
      refresh: (known) => this.#loadChanged(known),
    });
  }

  async of(organizationId: OrganizationId): Promise<RankingSettings> {
    return (await this.#pictures.of(organizationId)).settings;
  }

  /** The settings if they are in memory and not known to be outdated, otherwise null. */
  find(organizationId: OrganizationId): RankingSettings | null {
    return this.#pictures.find(organizationId)?.settings ?? null;
  }

  /** The last settings in memory, even if outdated. Use this while the database is down. */
  findOld(organizationId: OrganizationId): RankingSettings | null {
    return this.#pictures.peek(organizationId)?.settings ?? null;
  }

  /** Call after this process has committed a change, so that the next page reflects it. */
  markChanged(organizationId: OrganizationId): void {
    this.#pictures.outdate(organizationId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pictures[Symbol.asyncDispose]();
  }

  async #load(organizationId: OrganizationId): Promise<Known> {
    // Read the revision first: a concurrent change is then picked up by the next poll.
    const [revision] = await selectRevisions(this.#db, [organizationId]);
    const [config, rules, training] = await Promise.all([
      selectConfig(this.#db, organizationId),
      selectRules(this.#db, organizationId, { limit: maxRules, after: null }),
      selectTraining(this.#db, organizationId),
    ]);
    const settings: RankingSettings = {
      version: config?.version ?? 0,
      config: mergeConfig(baseConfig, config?.config ?? {}),
      setAtMs: config?.createdAt.getTime() ?? -Infinity,
      rules: rules.map(toEditorialRule),
      watchModel: usableModel(training),
    };
    return { settings, revision: revision?.revision ?? 0 };
  }

  async #loadChanged(known: KnownPictures<Known>): Promise<Map<OrganizationId, Known>> {
    const changed = new Map<OrganizationId, Known>();
    for (const { organizationId, revision } of await selectRevisions(this.#db, [...known.keys()])) {
      if (known.get(organizationId)?.revision === revision) continue;
      changed.set(organizationId, await this.#load(organizationId));
    }
    return changed;
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
