import type { ColumnType, Generated } from 'kysely';
import type { DefaultTimestamp } from '../../platform/database/column-types.ts';

/** One image of a carousel, as given in the import. */
export type ImageSource = { sourceUrl: string; altText: string | null };

type ImportSourceTable = {
  organization_id: string;
  content_id: string;
  source_url: Generated<string | null>;
  images: ColumnType<ImageSource[] | null, string | null, string | null>;
  created_at: DefaultTimestamp;
};

type ContentImportTable = {
  organization_id: string;
  import_id: string;
  created_at: DefaultTimestamp;
  total_items: number;
};

type ContentImportItemTable = { organization_id: string; import_id: string; content_id: string };

declare module '../../platform/database/tables.ts' {
  interface Tables {
    import_source: ImportSourceTable;
    content_import: ContentImportTable;
    content_import_item: ContentImportItemTable;
  }
}
