import type { Logger } from 'pino';
import type { RecentBlocks } from '../features/events/events.ts';
import type { FeedIndex } from '../features/feed/feed-index.ts';
import type { Authenticator } from '../features/keys/keys.ts';
import type { MediaAccess } from '../features/playback/playback.ts';
import type { Config } from '../platform/config.ts';
import type { Database } from '../platform/database/database.ts';
import type { Egress } from '../platform/egress/egress.ts';
import type { Mutations } from '../platform/idempotency/idempotency.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { JobWakeups } from '../platform/queue/wakeups.ts';
import type { Signer } from '../platform/signing-keys.ts';
import type { Storage } from '../platform/storage/storage.ts';
import type { Vault } from '../platform/vault.ts';

/** Everything that features are built from. */
export type Platform = {
  config: Config;
  port: number;
  log: Logger;
  metrics: Metrics;
  database: Database;
  /** Whether no other process shares the data directory. */
  ownsDataDirectory: boolean;
  storage: Storage;
  egress: Egress;
  vault: Vault;
  signer: Signer;
  mutations: Mutations;
  authenticator: Authenticator;
  access: MediaAccess;
  feedIndex: FeedIndex;
  recentBlocks: RecentBlocks;
  wakeups: JobWakeups;
  publicUrl: string;
  isDraining: () => boolean;
};
