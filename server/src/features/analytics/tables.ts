/**
 * The tables of statistics. Projections build them from the event log; 0007_analytics.sql defines
 * each number.
 */
import type { Generated } from 'kysely';
import type { Json, StoredTimestamp } from '../../platform/database/column-types.ts';
import type { contentColumns } from './projections/engagement/contribution.ts';

/** The counts of an item or of a part of the audience. */
type EngagementCounts = Record<(typeof contentColumns)[number], Generated<number>>;

export type Grain = 'hour' | 'day' | 'total';

type ContentCounterTable = EngagementCounts & {
  organization_id: string;
  grain: Grain;
  period: StoredTimestamp;
  content_id: string;
};

type AudienceCounterTable = EngagementCounts & {
  organization_id: string;
  grain: Exclude<Grain, 'total'>;
  period: StoredTimestamp;
  device: string;
  country: string;
  sessions: Generated<number>;
  session_ms: Generated<number>;
};

/** See facts/facts.ts. */
type ViewFactTable = {
  organization_id: string;
  day: string;
  level: number;
  chunk: string;
  row_count: number;
  body: Buffer;
};

/** See facts/names.ts. */
type FactNameTable = { organization_id: string; hash: Buffer; text: string };

type ContentDayTable = {
  organization_id: string;
  day: string;
  content_id: string;
  detail: Json<unknown>;
};

type ViewerSetTable = {
  organization_id: string;
  grain: Exclude<Grain, 'total'>;
  period: StoredTimestamp;
  content_id: string;
  sketch: Buffer;
};

type QualityCounterTable = {
  organization_id: string;
  grain: Exclude<Grain, 'total'>;
  period: StoredTimestamp;
  measure: string;
  label: string;
  count: number;
  total: number;
};

type RetentionCounterTable = {
  organization_id: string;
  cohort_day: string;
  day: string;
  viewers: number;
};

type ViewerActivityTable = { viewer_key: Buffer; organization_id: string; activity: Buffer };

type ViewerLinkTable = {
  device_key: Buffer;
  user_key: Buffer;
  organization_id: string;
  at_ms: number;
};

type ViewerReactionTable = {
  organization_id: string;
  content_id: string;
  reaction: 'like' | 'save';
  viewer_key: Buffer;
  at: StoredTimestamp;
  event_id: string;
  is_set: boolean;
};

type ReactionCounterTable = {
  organization_id: string;
  content_id: string;
  likes: Generated<number>;
  saves: Generated<number>;
};

type MinuteCounterTable = {
  organization_id: string;
  minute: StoredTimestamp;
  content_id: string;
  impressions: Generated<number>;
  plays: Generated<number>;
  completions: Generated<number>;
  likes: Generated<number>;
  shares: Generated<number>;
  saves: Generated<number>;
  rebuffers: Generated<number>;
  errors: Generated<number>;
};

type MinuteViewerSetTable = { organization_id: string; minute: StoredTimestamp; sketch: Buffer };

/**
 * The states of views and sessions. The key is the hash of the viewer followed by a hash of the
 * rest.
 */
type StateTable = { key: Buffer; state: Buffer };

type SessionDeviceTable = { user_key: Buffer; device_key: Buffer; generation: number };

declare module '../../platform/database/tables.ts' {
  interface Tables {
    content_counter: ContentCounterTable;
    audience_counter: AudienceCounterTable;
    view_fact: ViewFactTable;
    fact_name: FactNameTable;
    content_day: ContentDayTable;
    viewer_set: ViewerSetTable;
    reactor_set: ViewerSetTable;
    quality_counter: QualityCounterTable;
    retention_counter: RetentionCounterTable;
    viewer_activity: ViewerActivityTable;
    viewer_link: ViewerLinkTable;
    viewer_reaction: ViewerReactionTable;
    reaction_counter: ReactionCounterTable;
    minute_counter: MinuteCounterTable;
    minute_viewer_set: MinuteViewerSetTable;
    view_state_a: StateTable;
    view_state_b: StateTable;
    view_state_c: StateTable;
    session_state_a: StateTable;
    session_state_b: StateTable;
    session_state_c: StateTable;
    session_device: SessionDeviceTable;
  }
}
