import type { ColumnType, Generated } from 'kysely';
import type {
  DefaultTimestamp,
  Json,
  NullableTimestamp,
  StoredTimestamp,
} from '../../platform/database/column-types.ts';

export type ExperimentStatus = 'draft' | 'running' | 'completed' | 'stopped';
export type ExperimentType = 'ranking' | 'config' | 'feature';

type NullableJson<T> = ColumnType<T | null, string | null | undefined, string | null>;

export type ExperimentTable = {
  organization_id: string;
  experiment_id: string;
  number: ColumnType<number, never, never>;
  name: string;
  description: string | null;
  status: Generated<ExperimentStatus>;
  type: ExperimentType;
  traffic: number;
  variants: Json<unknown>;
  metrics: string[];
  primary_metric: string;
  guardrails: ColumnType<unknown, string | undefined, string>;
  harms: ColumnType<unknown, string | undefined, string>;
  targeting: Json<unknown>;
  ends_at: NullableTimestamp;
  revision: Generated<number>;
  created_at: DefaultTimestamp;
  started_at: NullableTimestamp;
  ended_at: NullableTimestamp;
  stop_reason: Generated<string | null>;
  winner: Generated<string | null>;
  rolled_out_at: NullableTimestamp;
  layer: Generated<string | null>;
  ranges: NullableJson<unknown>;
  plan: NullableJson<unknown>;
  results: NullableJson<unknown>;
  deleted_at: NullableTimestamp;
  hypothesis: Generated<string | null>;
  tags: Generated<string[]>;
  exclusion_group: Generated<string | null>;
  forced_variants: ColumnType<unknown, string | undefined, string>;
  holdout: Generated<number>;
  paused_at: NullableTimestamp;
};

type ExposureTable = {
  experiment_number: number;
  unit_key: Buffer;
  variant: number;
  exposed_at: StoredTimestamp;
  is_crossed: Generated<boolean>;
  is_counted: Generated<boolean>;
  merged_into: Buffer | null;
  country: string | null;
  device: string | null;
  viewer: string | null;
};

type ExperimentUnitTable = {
  experiment_number: number;
  unit_key: Buffer;
  variant: number;
  exposed_at: StoredTimestamp;
  plays: Generated<number>;
  completions: Generated<number>;
  watch_ms: Generated<number>;
  sessions: Generated<number>;
  returned: Generated<boolean>;
  earlier_watch_ms: Generated<number>;
  earlier_sessions: Generated<number>;
};

type ViewerDayTable = {
  viewer_key: Buffer;
  day: StoredTimestamp;
  organization_id: string;
  plays: Generated<number>;
  completions: Generated<number>;
  watch_ms: Generated<number>;
  sessions: Generated<number>;
};

type ExperimentHoldoutTable = {
  organization_id: string;
  traffic: number;
  updated_at: DefaultTimestamp;
};

type ExperimentDecisionTable = {
  experiment_number: number;
  number: ColumnType<number, never, never>;
  decided_at: DefaultTimestamp;
  action: string;
  api_key_id: string | null;
  note: string | null;
  changes: NullableJson<unknown>;
};

type ExperimentShareTable = {
  share_id: string;
  organization_id: string;
  experiment_number: number;
  created_at: DefaultTimestamp;
  expires_at: StoredTimestamp;
};

declare module '../../platform/database/tables.ts' {
  interface Tables {
    experiment: ExperimentTable;
    experiment_share: ExperimentShareTable;
    exposure: ExposureTable;
    experiment_unit: ExperimentUnitTable;
    viewer_day: ViewerDayTable;
    experiment_holdout: ExperimentHoldoutTable;
    experiment_decision: ExperimentDecisionTable;
  }
}
