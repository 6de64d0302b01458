import type { Generated } from 'kysely';
import type { DefaultTimestamp, NullableTimestamp } from '../../platform/database/column-types.ts';

export type KeyType = 'secret' | 'publishable';

type ApiKeyTable = {
  organization_id: string;
  api_key_id: string;
  type: KeyType;
  name: string;
  prefix: string;
  hash: Buffer;
  created_at: DefaultTimestamp;
  last_used_at: NullableTimestamp;
  expires_at: NullableTimestamp;
  revoked_at: NullableTimestamp;
  scopes: Generated<string[] | null>;
  rate_limit: Generated<number | null>;
  family: Generated<string | null>;
};

/** The latest requests of each key. */
type KeyRequestTable = {
  api_key_id: string;
  request_id: string;
  method: string;
  route: string;
  status: number;
  duration_ms: number;
  left_out: Generated<number>;
};

type ViewerSigningKeyTable = {
  organization_id: string;
  viewer_key_id: string;
  name: string;
  sealed: Buffer;
  created_at: DefaultTimestamp;
  expires_at: NullableTimestamp;
};

declare module '../../platform/database/tables.ts' {
  interface Tables {
    api_key: ApiKeyTable;
    key_request: KeyRequestTable;
    viewer_signing_key: ViewerSigningKeyTable;
  }
}
