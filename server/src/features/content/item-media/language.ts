/** The spoken language: a key in `customMetadata` that belongs to the service. */
import { sql, type RawBuilder } from 'kysely';
import type { Tx } from '../../../platform/database/database.ts';
import { itemColumns, type ItemRow } from '../item.ts';
import { touched } from '../touched.ts';

/** Custom metadata with the service's key: see `mergeCustomMetadata`. */
export function withLanguage(language: string | null): RawBuilder<string> {
  if (language === null) return sql`custom_metadata - 'language'`;
  return sql`custom_metadata || jsonb_build_object('language', ${language}::text)`;
}

/** Records an item's spoken language. Returns null if the item no longer exists. */
export async function setLanguage(
  tx: Tx,
  organizationId: string,
  contentId: string,
  language: string,
): Promise<ItemRow | null> {
  const row = await tx
    .updateTable('content')
    .set({ custom_metadata: withLanguage(language), ...touched() })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .returning(itemColumns)
    .executeTakeFirst();
  return row ?? null;
}
