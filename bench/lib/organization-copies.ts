/** Adds organizations to a database by copying one that the service itself has filled. */
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../../server/src/platform/database/database.ts';

/** The tables that an organization fills, except the log and the states of recent views. */
const tables = [
  'content',
  'content_counter',
  'audience_counter',
  'content_day',
  'viewer_set',
  'reactor_set',
  'view_fact',
  'fact_name',
  'quality_counter',
  'retention_counter',
  'viewer_activity',
  'viewer_link',
  'viewer_reaction',
  'reaction_counter',
  'feed_viewer',
  'feed_viewer_day',
  'feed_item_day',
  'feed_item_country',
  'journey_chunk',
  // Without these, the service would compute the models of all copies first.
  'watch_model',
  'taste_model',
  'taste_part',
];
const copiesAtOnce = 10;

/** The columns that differ between copies; all others are equal. */
const changed: Record<string, RawBuilder<unknown>> = {
  organization_id: sql`copy.organization_id`,
  playback_id: sql`substr(md5(source.playback_id || copy.organization_id), 1, 22)`,
  viewer_key: keyOf('viewer_key'),
  device_key: keyOf('device_key'),
  user_key: keyOf('user_key'),
};

function keyOf(column: string): RawBuilder<unknown> {
  const key = sql.ref(`source.${column}`);
  return sql`substr(sha256(${key} || convert_to(copy.organization_id, 'UTF8')), 1, length(${key}))`;
}

/**
 * Creates organizations with copies of the rows that `template` has in the tables above. `db` must
 * have no statement timeout.
 */
export async function copyOrganization(
  db: Db,
  template: string,
  copies: readonly string[],
): Promise<void> {
  await sql`
    insert into organization (organization_id, name)
    select id, id from unnest(${copies}::text[]) id`.execute(db);
  for (const table of tables) {
    const columns = await columnsOf(db, table);
    const values = columns.map((column) => changed[column] ?? sql.ref(`source.${column}`));
    const source = await rowsOf(db, table, template);
    await withoutIndexes(db, table, async () => {
      for (let from = 0; from < copies.length; from += copiesAtOnce) {
        await sql`
          insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
          overriding system value
          select ${sql.join(values)}
          from unnest(${copies.slice(from, from + copiesAtOnce)}::text[]) as copy (organization_id)
          cross join ${source} source`.execute(db);
      }
    });
    await sql`drop table ${source}`.execute(db);
  }
}

/** Copies the rows of the template to a separate table, which is read without an index. */
async function rowsOf(db: Db, table: string, template: string): Promise<RawBuilder<unknown>> {
  const source = sql.table(`template_${table}`);
  await sql`
    create unlogged table ${source} as select * from ${sql.table(table)}
    where organization_id = ${sql.lit(template)}`.execute(db);
  return source;
}

/**
 * Creating indexes afterwards takes a fraction of the time that inserting millions of rows into
 * them would take.
 */
async function withoutIndexes(db: Db, table: string, work: () => Promise<void>): Promise<void> {
  const { rows } = await sql<{ drop: string; create: string }>`
    select
      case when own.oid is null then format('drop index %s', indexrelid::regclass)
        else format('alter table %s drop constraint %I', indrelid::regclass, conname) end as drop,
      case when own.oid is null then pg_get_indexdef(indexrelid)
        else format('alter table %s add constraint %I %s', indrelid::regclass, conname,
          pg_get_constraintdef(own.oid)) end as create
    from pg_index left join pg_constraint own on own.conindid = indexrelid and own.contype in ('p', 'u')
    where indrelid = ${table}::regclass and not exists (
      select from pg_constraint other where other.conindid = indexrelid and other.contype = 'f')`.execute(
    db,
  );
  for (const { drop } of rows) await sql.raw(drop).execute(db);
  await work();
  for (const { create } of rows) await sql.raw(create).execute(db);
}

async function columnsOf(db: Db, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select column_name as name from information_schema.columns
    where table_schema = 'public' and table_name = ${table} and is_generated = 'NEVER'
    order by ordinal_position`.execute(db);
  return rows.map(({ name }) => name);
}
