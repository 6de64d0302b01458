/** The table of responses to requests with an `Idempotency-Key`. */
import type { Generated } from 'kysely';
import type { DefaultTimestamp, Json } from '../database/column-types.ts';

type IdempotentRequestTable = {
  organization_id: string;
  idempotency_key: string;
  fingerprint: Buffer;
  status_code: number;
  headers: Json<Record<string, string>>;
  body: Buffer;
  key_family: Generated<string | null>;
  created_at: DefaultTimestamp;
};

declare module '../database/tables.ts' {
  interface Tables {
    idempotent_request: IdempotentRequestTable;
  }
}
