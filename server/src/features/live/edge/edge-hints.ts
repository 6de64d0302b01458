/** Notifies the serving processes that a broadcast has another part or segment. */
import type { Logger } from 'pino';
import type { DatabaseConnection, Db } from '../../../platform/database/database.ts';
import type { FeatureService } from '../../../platform/feature/feature.ts';
import type { Hints } from '../../../platform/hints/hints.ts';
import { followSharedHint, tellOthers } from '../../../platform/hints/shared-hints.ts';
import { liveAdded } from './followed-stream.ts';

type EdgeHintParts = {
  readonly db: Db;
  readonly hints: Hints;
  readonly log: Logger;
  readonly connection: DatabaseConnection;
  /** Whether there are no other processes. */
  readonly ownsDataDirectory: boolean;
};

const channel = 'live-added';

export type EdgeHints = {
  readonly onAdded: (liveStreamId: string) => void;
  readonly services: readonly FeatureService[];
};

export function edgeHints(parts: EdgeHintParts): EdgeHints {
  const { db, hints, log, connection, ownsDataDirectory } = parts;
  const onAdded = (liveStreamId: string) => hints.give(liveAdded(liveStreamId));
  if (ownsDataDirectory) return { onAdded, services: [] };
  const tell = tellOthers(db, channel);
  const onHint = (liveStreamId?: string) => {
    if (liveStreamId !== undefined) onAdded(liveStreamId);
  };
  const following = { connection, log, name: channel, onHint };
  return {
    onAdded(liveStreamId) {
      onAdded(liveStreamId);
      tell(liveStreamId);
    },
    services: [
      { name: 'live hints', roles: ['api'], run: (signal) => followSharedHint(following, signal) },
    ],
  };
}
