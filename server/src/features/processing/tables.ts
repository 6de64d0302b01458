import type {
  DefaultTimestamp,
  Json,
  NullableTimestamp,
} from '../../platform/database/column-types.ts';

type MediaPreparationTable = {
  organization_id: string;
  content_id: string;
  media_prefix: string;
  prepared: Json<unknown>;
  created_at: DefaultTimestamp;
};

type MediaLadderTable = {
  organization_id: string;
  content_id: string;
  media_prefix: string;
  prepared: Json<unknown>;
  extended_at: NullableTimestamp;
};

declare module '../../platform/database/tables.ts' {
  interface Tables {
    media_preparation: MediaPreparationTable;
    media_ladder: MediaLadderTable;
  }
}
