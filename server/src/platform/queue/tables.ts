/** The table of the job queue; see `queue.ts` for the states of a job. */
import type { Generated } from 'kysely';
import type { DefaultTimestamp, Json, NullableTimestamp } from '../database/column-types.ts';

export type JobState = 'scheduled' | 'waiting' | 'running' | 'failed';

type JobTable = {
  job_id: Generated<number>;
  organization_id: string;
  name: string;
  payload: Json<unknown>;
  state: JobState;
  unique_key: string | null;
  run_at: DefaultTimestamp;
  rank: Generated<number>;
  place: DefaultTimestamp;
  attempts: Generated<number>;
  claim_id: Generated<string | null>;
  worker: Generated<string | null>;
  lease_until: NullableTimestamp;
  last_error: Generated<string | null>;
  failed_at: NullableTimestamp;
  created_at: DefaultTimestamp;
  traceparent: Generated<string | null>;
};

declare module '../database/tables.ts' {
  interface Tables {
    job: JobTable;
  }
}
