import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { AssetKind, StoredAsset } from '../content/content.ts';
import type { AssetOwner, NewAsset } from './assets.ts';

/** The assets of an item by kind and position, as readers see them. */
export async function readAssets(db: Db, owner: AssetOwner): Promise<StoredAsset[]> {
  const rows = await db
    .selectFrom('asset')
    .select(['asset_id', 'kind', 'position', 'folder', 'metadata', 'state', 'created_at'])
    .where('organization_id', '=', owner.organizationId)
    .where('content_id', '=', owner.contentId)
    .orderBy('kind')
    .orderBy('position')
    .execute();
  return rows.map((row) => ({
    id: row.asset_id,
    kind: row.kind,
    position: row.position,
    folder: row.folder,
    metadata: row.metadata,
    state: row.state,
    createdAt: row.created_at.toISOString(),
  }));
}

export async function insertAsset(tx: Tx, owner: AssetOwner, asset: NewAsset): Promise<void> {
  await sql`
    insert into asset
      (organization_id, asset_id, content_id, kind, position, folder, metadata, state)
    select ${owner.organizationId}, ${asset.assetId}, ${owner.contentId}, ${asset.kind},
      (select count(*) from asset
        where organization_id = ${owner.organizationId} and content_id = ${owner.contentId}::uuid
          and kind = ${asset.kind}),
      ${asset.folder}, ${JSON.stringify(asset.metadata)}::jsonb, ${asset.state}
  `.execute(tx);
}

/** preparing → ready. Returns whether the asset existed. */
export async function updateAsset(
  tx: Tx,
  owner: AssetOwner,
  assetId: string,
  { folder, metadata }: { folder: string; metadata: Record<string, unknown> },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('asset')
    .set({ folder, metadata: JSON.stringify(metadata), state: 'ready' })
    .where('organization_id', '=', owner.organizationId)
    .where('content_id', '=', owner.contentId)
    .where('asset_id', '=', assetId)
    .where('state', '=', 'preparing')
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export async function deleteAsset(
  tx: Tx,
  owner: AssetOwner,
  { assetId, kind }: { assetId: string; kind: AssetKind },
): Promise<{ folder: string | null } | null> {
  const row = await tx
    .deleteFrom('asset')
    .where('organization_id', '=', owner.organizationId)
    .where('content_id', '=', owner.contentId)
    .where('asset_id', '=', assetId)
    .where('kind', '=', kind)
    .returning('folder')
    .executeTakeFirst();
  return row ?? null;
}

/** Numbers assets in the given order, from 0. */
export async function setPositions(
  tx: Tx,
  owner: AssetOwner,
  assetIds: readonly string[],
): Promise<void> {
  await sql`
    update asset set position = given.position - 1
    from unnest(${assetIds}::uuid[]) with ordinality as given (asset_id, position)
    where asset.organization_id = ${owner.organizationId}
      and asset.content_id = ${owner.contentId}::uuid and asset.asset_id = given.asset_id
  `.execute(tx);
}

/** Whether an asset references a folder. */
export async function hasAsset(
  db: Db,
  organizationId: string,
  assetId: string,
  folder: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('asset')
    .select('asset_id')
    .where('organization_id', '=', organizationId)
    .where('asset_id', '=', assetId)
    .where('folder', '=', folder)
    .executeTakeFirst();
  return row !== undefined;
}
