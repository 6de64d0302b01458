import type { ColumnType } from 'kysely';
import type { DefaultTimestamp } from '../../platform/database/column-types.ts';
import type { AssetKind, AssetState } from '../content/content.ts';

type AssetTable = {
  organization_id: string;
  asset_id: string;
  content_id: string;
  kind: AssetKind;
  position: number;
  folder: string | null;
  metadata: ColumnType<Record<string, unknown>, string | undefined, string>;
  state: AssetState;
  created_at: DefaultTimestamp;
};

declare module '../../platform/database/tables.ts' {
  interface Tables {
    asset: AssetTable;
  }
}
