import type { Generated } from 'kysely';
import type { DefaultTimestamp } from '../../platform/database/column-types.ts';

type OrganizationTable = {
  organization_id: string;
  name: string;
  auto_publish: Generated<boolean>;
  early_playback: Generated<boolean>;
  default_protected: Generated<boolean>;
  allowed_origins: Generated<string[]>;
  time_zone: Generated<string>;
  created_at: DefaultTimestamp;
  viewer_secret: Generated<Buffer>;
  require_signed_viewers: Generated<boolean>;
};

declare module '../../platform/database/tables.ts' {
  interface Tables {
    organization: OrganizationTable;
  }
}
