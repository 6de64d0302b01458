/**
 * Repeats erasures after a restore. A backup brings back every viewer erased after it was taken.
 * The records of these erasures contain only hashes, so the ids are searched for: every text of
 * every event is hashed in the same way. When a hash matches, the viewer is erased as if by a
 * request.
 *
 *   record without an erasure in the backup → (restore) → pending, replayed → (id found) → pending → …
 *                                                                        └→ (no event names it) → complete
 */
import { Type } from 'typebox';
import { inTransaction, type Db, type Tx } from '../../../platform/database/database.ts';
import { defineJob, doublingDelay } from '../../../platform/queue/job-definition.ts';
import { done, handle, type HandledJob } from '../../../platform/queue/job-handler.ts';
import { enqueue } from '../../../platform/queue/queue.ts';
import type { Vault } from '../../../platform/secrets/vault.ts';
import { ViewerSecrets } from '../../organizations/organizations.ts';
import type { EngagementLog } from '../engagement-log.ts';
import type { LoggedEvent } from '../logged-event.ts';
import { askForErasure, hashOfErased } from './erasure.ts';
import { completeReplays, insertReplay, selectReplays } from './erasure-queries.ts';
import type { ErasureRecord } from './erasure-records.ts';
import { mapTexts } from './map-texts.ts';

export const replayErasuresJob = defineJob({
  name: 'replay-erasures',
  payload: Type.Object({}),
  timeoutMs: 12 * 3_600_000,
  retry: { maxAttempts: 100, delayMs: doublingDelay(1_000, 10 * 60_000) },
  concurrency: 1,
});

/**
 * Schedules the erasures that have a record but are missing from the database.
 *
 * @returns how many
 */
export async function requestReplays(tx: Tx, records: readonly ErasureRecord[]): Promise<number> {
  const organizations = new Set<string>();
  let replays = 0;
  for (const record of records) {
    if (!(await insertReplay(tx, record))) continue;
    replays += 1;
    organizations.add(record.organizationId);
  }
  for (const organizationId of organizations) {
    await enqueue(tx, replayErasuresJob, {}, { organizationId, uniqueKey: 'replay' });
  }
  return replays;
}

type ReplayParts = {
  readonly db: Db;
  readonly eventLog: EngagementLog;
  readonly vault: Vault;
  readonly onQueued: () => void;
};

export function replayHandler(parts: ReplayParts): HandledJob {
  return handle(replayErasuresJob, async (_, context) => {
    const { organizationId, signal } = context;
    await findViewers(parts, organizationId, signal);
    await context.finish((tx) => completeReplays(tx, organizationId));
    parts.onQueued();
    return done;
  });
}

const pageLimits = { limitBlocks: 100, limitEvents: 20_000 };
const maxRemembered = 500_000;

/**
 * Requests the erasure of each viewer whose id is found in the log. A retry finds the remaining
 * ones.
 */
async function findViewers(
  { db, eventLog, vault }: ReplayParts,
  organizationId: string,
  signal: AbortSignal,
): Promise<void> {
  const wanted = new Set(await selectReplays(db, organizationId));
  const secrets = new ViewerSecrets();
  await secrets.load(db, [organizationId]);
  const until = await eventLog.end();
  const looked = new Set<string>();
  for (let from = eventLog.start; wanted.size > 0;) {
    signal.throwIfAborted();
    const page = await eventLog.read(from, { ...pageLimits, organizationId, until });
    for (const userId of textsOf(page.blocks.flatMap(({ events }) => events))) {
      if (looked.has(userId)) continue;
      if (looked.size >= maxRemembered) looked.clear();
      looked.add(userId);
      const hash = hashOfErased(secrets, { organizationId, userId }).toString('hex');
      if (!wanted.delete(hash)) continue;
      await inTransaction(db, (tx) => askForErasure(tx, vault, { organizationId, userId }));
    }
    if (page.isLast) return;
    from = page.next;
  }
}

/** Every text in the events that might be a viewer id. */
function textsOf(events: readonly LoggedEvent[]): Set<string> {
  const texts = new Set<string>();
  const add = (text: string) => {
    texts.add(text);
    return text;
  };
  for (const event of events) {
    mapTexts(event, { text: add, number: (number) => add(String(number)) && number });
  }
  return texts;
}
