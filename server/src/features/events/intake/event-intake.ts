/** Event intake as one resource: opens and closes everything its routes need. */
import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import type { Metrics } from '../../../platform/metrics/metrics.ts';
import type { SignatureReader } from '../../keys/keys.ts';
import { Crowds } from './crowds.ts';
import { isRecord } from './event-data.ts';
import { GroupCommit, type FlushReport } from './group-commit.ts';
import { collectIntakeMetrics, observeIntake } from './intake-metrics.ts';
import type { IntakeParts } from './intake.ts';
import { KnownKinds, type DeclaredKinds } from './declared-kinds.ts';
import { KnownContent } from './known-content.ts';
import type { EngagementLog } from '../engagement-log.ts';
import type { LoggedEvent } from '../logged-event.ts';
import { Rejections } from '../live-tail/rejections.ts';
import { StatisticsPace } from './statistics-pace.ts';

export type EventIntakeOptions = {
  readonly db: Db;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly eventLog: EngagementLog;
  /** Called with the new blocks of the log, before their requests are answered. */
  readonly onStored: (blocks: readonly StoredEvents[]) => void;
  readonly viewerSignatures: SignatureReader;
  readonly declaredKinds: readonly DeclaredKinds[];
};

/** Events of one organization that became one block of the log. */
export type StoredEvents = {
  readonly organizationId: string;
  readonly sequence: number;
  readonly events: readonly LoggedEvent[];
};

/** Disposing of it stores everything accepted before. */
export function openEventIntake(options: EventIntakeOptions): IntakeParts & AsyncDisposable {
  const { db, log, metrics, eventLog, onStored } = options;
  const observer = observeIntake(metrics);
  const commit = new GroupCommit({
    log,
    append: (drafts) => eventLog.append(drafts),
    onFlush: (report) => {
      observer.flushed(report);
      if (report.added !== null) onStored(storedEvents(report));
    },
    onPoison: (error, { event }) =>
      log.error({ err: error, event }, 'a valid event cannot be stored'),
  });
  const rejections = new Rejections(db, log);
  const pace = new StatisticsPace({ db, eventLog, log });
  collectIntakeMetrics(metrics, { eventLog, depth: () => commit.depth() });
  return {
    isTooFast: () => pace.refuses(),
    known: new KnownContent(db),
    kinds: new KnownKinds(db, options.declaredKinds),
    crowds: new Crowds(),
    viewerSignatures: options.viewerSignatures,
    commit,
    onRejected(organizationId, raw, problem) {
      const kind = isRecord(raw) ? raw['event'] : null;
      observer.rejected(problem, typeof kind === 'string' ? kind : '');
      rejections.add(organizationId, raw, problem);
    },
    async [Symbol.asyncDispose]() {
      await commit[Symbol.asyncDispose]();
      await rejections[Symbol.asyncDispose]();
      await pace[Symbol.asyncDispose]();
    },
  };
}

function storedEvents({ drafts, added }: FlushReport): StoredEvents[] {
  return (added ?? []).flatMap(({ sequence, leftOut }, index) => {
    const draft = drafts[index];
    if (sequence === null || draft === undefined) return [];
    const { organizationId, events } = draft;
    const isLeftOut = new Set(leftOut);
    const stored = leftOut.length === 0 ? events : events.filter((_, at) => !isLeftOut.has(at));
    return [{ organizationId, sequence, events: stored }];
  });
}
