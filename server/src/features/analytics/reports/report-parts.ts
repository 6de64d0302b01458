import type { Db } from '../../../platform/database/database.ts';
import type { HeavyReads } from '../../../platform/database/read-replica.ts';
import type { EngagementLog } from '../../events/events.ts';
import type { ListCursors } from '../../../platform/http/list-cursor.ts';
import type { VariantsOf } from './dimensions.ts';

/** The dependencies of report routes. */
export type ReportParts = {
  db: Db;
  heavyReads: HeavyReads;
  cursors: ListCursors;
  eventLog: Pick<EngagementLog, 'start' | 'backlog'>;
  variantsOf: VariantsOf;
};

/** Shared options: reports are for servers, never for apps. */
export const reportRoute = {
  config: { access: 'secret' as const },
  tags: ['Analytics'],
};
