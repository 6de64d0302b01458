import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import type { RankingConfig } from '../ranking/config.ts';
import type { RuleMatch, RuleType } from '../ranking/editorial.ts';

export type ConfigRow = {
  version: number;
  config: RankingConfig;
  apiKeyId: string;
  createdAt: Date;
};

const configColumns = sql`
  version, config, api_key_id as "apiKeyId", created_at as "createdAt"`;

/** The current configuration, or null if the organization has none of its own. */
export async function selectConfig(
  db: Db,
  organizationId: OrganizationId,
): Promise<ConfigRow | null> {
  const { rows } = await sql<ConfigRow>`
    select ${configColumns} from ranking_config where organization_id = ${organizationId}
    order by version desc limit 1`.execute(db);
  return rows[0] ?? null;
}

export async function selectConfigVersion(
  db: Db,
  organizationId: OrganizationId,
  version: number,
): Promise<ConfigRow | null> {
  const { rows } = await sql<ConfigRow>`
    select ${configColumns} from ranking_config
    where organization_id = ${organizationId} and version = ${version}`.execute(db);
  return rows[0] ?? null;
}

/** Versions older than `before`, newest first. */
export async function selectConfigVersions(
  db: Db,
  organizationId: OrganizationId,
  { limit, before }: { limit: number; before: number | null },
): Promise<ConfigRow[]> {
  const { rows } = await sql<ConfigRow>`
    select ${configColumns} from ranking_config where organization_id = ${organizationId}
      and version < ${before ?? 2 ** 31 - 1}
    order by version desc limit ${limit}`.execute(db);
  return rows;
}

export async function countConfigVersions(db: Db, organizationId: OrganizationId): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from ranking_config where organization_id = ${organizationId}`.execute(
    db,
  );
  return rows[0]?.total ?? 0;
}

/** Adds a version. Call `bumpRevision` first: its lock makes version numbers consecutive. */
export async function insertConfig(
  tx: Tx,
  organizationId: OrganizationId,
  config: RankingConfig,
  apiKeyId: string,
): Promise<ConfigRow> {
  const { rows } = await sql<ConfigRow>`
    insert into ranking_config (organization_id, version, config, api_key_id)
    select ${organizationId}, coalesce(max(version), 0) + 1, ${JSON.stringify(config)}::jsonb,
      ${apiKeyId}
    from ranking_config where organization_id = ${organizationId}
    returning ${configColumns}`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error('The configuration was not stored.');
  return row;
}

/** Counts a change and keeps the organization's row locked until the transaction ends. */
export async function bumpRevision(tx: Tx, organizationId: OrganizationId): Promise<void> {
  await sql`
    insert into ranking_revision as known (organization_id, revision)
    values (${organizationId}, 1)
    on conflict (organization_id) do update set revision = known.revision + 1`.execute(tx);
}

export async function selectRevisions(
  db: Db,
  organizationIds: readonly string[],
): Promise<{ organizationId: OrganizationId; revision: number }[]> {
  const { rows } = await sql<{ organizationId: OrganizationId; revision: number }>`
    select organization_id as "organizationId", revision from ranking_revision
    where organization_id = any(${organizationIds}::text[])`.execute(db);
  return rows;
}

export type RuleRow = {
  ruleId: string;
  type: RuleType;
  match: RuleMatch;
  factor: number | null;
  position: number | null;
  startsAt: Date | null;
  endsAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
};

const ruleColumns = sql`
  ranking_rule_id as "ruleId", type, match, factor, position, starts_at as "startsAt",
  ends_at as "endsAt", created_at as "createdAt", updated_at as "updatedAt"`;

/** Rules after `after`, oldest first. */
export async function selectRules(
  db: Db,
  organizationId: OrganizationId,
  { limit, after }: { limit: number; after: string | null },
): Promise<RuleRow[]> {
  const { rows } = await sql<RuleRow>`
    select ${ruleColumns} from ranking_rule
    where organization_id = ${organizationId} and ranking_rule_id > ${after ?? ''}
    order by ranking_rule_id limit ${limit}`.execute(db);
  return rows;
}

export async function countRules(db: Db, organizationId: OrganizationId): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from ranking_rule where organization_id = ${organizationId}`.execute(
    db,
  );
  return rows[0]?.total ?? 0;
}

export async function selectRule(
  db: Db,
  organizationId: OrganizationId,
  ruleId: string,
): Promise<RuleRow | null> {
  const { rows } = await sql<RuleRow>`
    select ${ruleColumns} from ranking_rule
    where organization_id = ${organizationId} and ranking_rule_id = ${ruleId}`.execute(db);
  return rows[0] ?? null;
}

export type RuleFields = Omit<RuleRow, 'createdAt' | 'updatedAt'>;

/** Inserts or replaces a rule by id. */
export async function upsertRule(
  tx: Tx,
  organizationId: OrganizationId,
  rule: RuleFields,
): Promise<RuleRow> {
  const { rows } = await sql<RuleRow>`
    insert into ranking_rule (organization_id, ranking_rule_id, type, match, factor, position,
      starts_at, ends_at)
    values (${organizationId}, ${rule.ruleId}, ${rule.type}, ${JSON.stringify(rule.match)}::jsonb,
      ${rule.factor}::float8, ${rule.position}::integer, ${rule.startsAt}::timestamptz,
      ${rule.endsAt}::timestamptz)
    on conflict (organization_id, ranking_rule_id) do update set type = excluded.type,
      match = excluded.match, factor = excluded.factor, position = excluded.position,
      starts_at = excluded.starts_at, ends_at = excluded.ends_at, updated_at = clock_timestamp()
    returning ${ruleColumns}`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error('The rule was not stored.');
  return row;
}

/** @returns whether the rule existed */
export async function deleteRule(
  tx: Tx,
  organizationId: OrganizationId,
  ruleId: string,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    delete from ranking_rule
    where organization_id = ${organizationId} and ranking_rule_id = ${ruleId}`.execute(tx);
  return numAffectedRows > 0n;
}

/** The ids of the rules that match only one of these items. */
export async function selectRulesOfItems(
  db: Db,
  organizationId: OrganizationId,
  contentIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ ruleId: string }>`
    select ranking_rule_id as "ruleId" from ranking_rule
    where organization_id = ${organizationId} and match ->> 'contentId' = any(${contentIds}::text[])
    `.execute(db);
  return rows.map(({ ruleId }) => ruleId);
}
