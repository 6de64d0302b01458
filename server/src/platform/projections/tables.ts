/** The table of projections, with the progress of each partition. */
import type { Generated } from 'kysely';
import type { Json, NullableTimestamp } from '../database/column-types.ts';

type ProjectionTable = {
  name: string;
  partition: Generated<number>;
  position: Json<unknown>;
  revision: Generated<number>;
  /**
   * Always equal to the revision. A process of a version without this column does not know about
   * partitions, and may not write.
   */
  fence: Generated<number>;
  events: Generated<number>;
  received_at: NullableTimestamp;
  generation: Generated<number>;
  failing_since: NullableTimestamp;
  /** This column and the next were written by the version before leases had a separate table. */
  writer_id: string | null;
  writer_until: NullableTimestamp;
};

declare module '../database/tables.ts' {
  interface Tables {
    projection: ProjectionTable;
  }
}
