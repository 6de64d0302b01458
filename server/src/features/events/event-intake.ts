/** Event intake as one resource: what the routes need, opened and closed together. */
import type { Logger } from 'pino';
import type { Db } from '../../platform/database/database.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { isRecord } from './event-data.ts';
import { GroupCommit } from './group-commit.ts';
import { collectIntakeMetrics, observeIntake } from './intake-metrics.ts';
import type { IntakeParts } from './intake.ts';
import { KnownContent } from './known-content.ts';
import { appendToLog } from './log.ts';
import type { RecentBlocks } from './recent-blocks.ts';
import { Rejections } from './rejections.ts';

export type EventIntakeOptions = {
  readonly db: Db;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly recentBlocks: RecentBlocks;
  /** Called when the log has grown. */
  readonly onStored: () => void;
};

/** Disposing stores what was taken in before. */
export function openEventIntake(options: EventIntakeOptions): IntakeParts & AsyncDisposable {
  const { db, log, metrics, recentBlocks, onStored } = options;
  const observer = observeIntake(metrics);
  const commit = new GroupCommit({
    append: (drafts) => appendToLog(db, drafts, recentBlocks),
    onFlush: (report) => {
      observer.flushed(report);
      if (report.added !== null) onStored();
    },
    onPoison: (error, { event }) =>
      log.error({ err: error, event }, 'a valid event cannot be stored'),
  });
  const rejections = new Rejections(db, log);
  collectIntakeMetrics(metrics, { db, depth: () => commit.depth() });
  return {
    known: new KnownContent(db),
    commit,
    onRejected(organizationId, raw, problem) {
      const kind = isRecord(raw) ? raw['event'] : null;
      observer.rejected(problem, typeof kind === 'string' ? kind : '');
      rejections.add(organizationId, raw, problem);
    },
    async [Symbol.asyncDispose]() {
      await commit[Symbol.asyncDispose]();
      await rejections[Symbol.asyncDispose]();
    },
  };
}
