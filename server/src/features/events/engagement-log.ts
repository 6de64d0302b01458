import type { Logger } from 'pino';
import type { Db } from '../../platform/database/database.ts';
import type { BlockStream } from '../../platform/event-log/block-stream.ts';
import type { BlockDraft, EventLog, LogBlock } from '../../platform/event-log/event-log.ts';
import type { StreamUrl } from '../../platform/event-log/jetstream/stream-url.ts';
import {
  createPostgresLog,
  type PostgresLogOptions,
} from '../../platform/event-log/postgres/postgres-log.ts';
import type { Projection } from '../../platform/projections/projection.ts';
import type { LoggedEvent } from './logged-event.ts';

export type EventBlock = LogBlock<LoggedEvent>;
export type EventDraft = BlockDraft<LoggedEvent>;
export type EngagementLog = EventLog<LoggedEvent>;
export type EventProjection = Projection<LoggedEvent> & {
  /** Whether it receives events of custom kinds, which count only in metrics. */
  readonly takesCustomKinds?: true;
};

export type LogOptions = Omit<PostgresLogOptions<LoggedEvent>, 'db'>;

export function openEventLog(db: Db, options: LogOptions = {}): EngagementLog {
  return createPostgresLog<LoggedEvent>({ db, ...options });
}

/** Opens JetStream. Loaded on demand, because few installations need its client library. */
export async function openStream(url: StreamUrl, log: Logger): Promise<BlockStream> {
  const { openJetStream } = await import('../../platform/event-log/jetstream/jetstream-stream.ts');
  return openJetStream(url, log);
}

/**
 * The log of an installation, for commands outside the service. Disposing it closes its
 * connections.
 */
export async function openConfiguredLog(
  db: Db,
  { eventLogUrl }: { eventLogUrl: StreamUrl | null },
  log: Logger,
): Promise<AsyncDisposable & { eventLog: EngagementLog }> {
  const stream = eventLogUrl === null ? null : await openStream(eventLogUrl, log);
  return {
    eventLog: openEventLog(db, { stream }),
    async [Symbol.asyncDispose]() {
      await stream?.[Symbol.asyncDispose]();
    },
  };
}
