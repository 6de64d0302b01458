import type { Db } from '../../../platform/database/database.ts';
import type { EngagementLog } from '../../events/events.ts';
import type { ListCursors } from '../../../platform/http/list-cursor.ts';

/** What the routes of reports are made from. */
export type ReportParts = {
  db: Db;
  cursors: ListCursors;
  eventLog: Pick<EngagementLog, 'start' | 'backlog'>;
};

/** What they have in common: reports are for servers, never for apps. */
export const reportRoute = {
  config: { access: 'secret' as const },
  tags: ['Analytics'],
};
