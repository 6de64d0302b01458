/**
 * Erases one viewer, by user id.
 *
 *   (requested) → pending → complete
 *                   │  ▲
 *                   │  └── requested again: starts over
 *                   └▶ failed (a new request restarts it)
 *
 * 1. It covers every event acknowledged before the request. Anything later is new data, because the
 *    viewer may have come back.
 * 2. First the log is rewritten, then every feature removes what it has derived from the events.
 *    After that, neither a projection nor a rebuild can find them.
 * 3. Events are checked one by one after parsing, so nothing that another viewer sends can make an
 *    erasure fail. The log is read again at the end; the erasure is complete only if no event in it
 *    names the viewer.
 * 4. Keys stay in the ledger, so a late copy of an erased event is not stored again.
 * 5. A crash repeats at most one page. One page is in memory at a time.
 * 6. Erasures of one organization take turns page by page: none waits for another to finish, and
 *    none writes back what another has just removed.
 * 7. The job stores the user id encrypted. After the erasure the id is stored nowhere; only a hash
 *    remains that finds its state, and a record with that hash, which a restore uses to repeat it.
 */
import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { inTransaction, type Db, type Tx } from '../../../platform/database/database.ts';
import type { EraseViewer, Viewer } from '../../../platform/feature/feature.ts';
import { defineJob, doublingDelay } from '../../../platform/queue/job-definition.ts';
import { done, handle, skipped, type HandledJob } from '../../../platform/queue/job-handler.ts';
import { enqueue } from '../../../platform/queue/queue.ts';
import type { Storage } from '../../../platform/storage/storage.ts';
import type { Vault } from '../../../platform/secrets/vault.ts';
import { ViewerSecrets } from '../../organizations/organizations.ts';
import {
  endErasure,
  findErasure,
  lockErasure,
  requestErasure,
  saveErasureProgress,
  type ErasureKey,
  type ErasurePosition,
  type ErasureRow,
} from './erasure-queries.ts';
import type { EngagementLog } from '../engagement-log.ts';
import { storeErasureRecord } from './erasure-records.ts';
import { erasedId, forgetUser, mayName, type ErasedId } from './forget-viewer.ts';
import type { LoggedEvent } from '../logged-event.ts';

export const eraseViewerJob = defineJob({
  name: 'erase-viewer',
  payload: Type.Object({ sealedUserId: Type.String(), userHash: Type.String() }),
  timeoutMs: 12 * 3_600_000,
  retry: { maxAttempts: 10, delayMs: doublingDelay(1_000, 10 * 60_000) },
  concurrency: 4,
  onExhausted: async (tx, { userHash }, { organizationId }) => {
    const key = { organizationId, userHash: Buffer.from(userHash, 'hex') };
    if ((await lockErasure(tx, key)) !== null) await endErasure(tx, key, 'failed');
  },
});

const pageLimits = { limitBlocks: 100, limitEvents: 20_000 };

/**
 * A keyed hash, different from the one used by statistics. The organization's secret must be
 * loaded.
 */
export function hashOfErased(secrets: ViewerSecrets, { organizationId, userId }: Viewer): Buffer {
  return Buffer.from(secrets.hash(organizationId, `erasure:${userId}`), 'latin1');
}

export async function erasureKey(db: Db, viewer: Viewer): Promise<ErasureKey> {
  const { organizationId } = viewer;
  const secrets = new ViewerSecrets();
  await secrets.load(db, [organizationId]);
  return { organizationId, userHash: hashOfErased(secrets, viewer) };
}

export function replacementEventId({ userHash }: ErasureKey): string {
  const digest = createHash('sha256').update('event').update(userHash).digest('hex');
  return digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
}

/** Requests an erasure. Call `hints.give(eraseViewerJob.name)` after the commit. */
export async function askForErasure(tx: Tx, vault: Vault, viewer: Viewer): Promise<ErasureRow> {
  const key = await erasureKey(tx, viewer);
  const erasure = await requestErasure(tx, key);
  const { organizationId, userId } = viewer;
  const userHash = key.userHash.toString('hex');
  const sealedUserId = vault.seal(userId, sealContext(organizationId)).toString('base64');
  const payload = { sealedUserId, userHash };
  await enqueue(tx, eraseViewerJob, payload, { organizationId, uniqueKey: userHash });
  return erasure;
}

function sealContext(organizationId: string): string {
  return `erase-viewer ${organizationId}`;
}

export type ErasureParts = {
  readonly db: Db;
  readonly eventLog: EngagementLog;
  readonly vault: Vault;
  readonly storage: Pick<Storage, 'put'>;
  readonly steps: readonly EraseViewer[];
};

export function erasureHandler(parts: ErasureParts): HandledJob {
  const { db, eventLog, vault, steps } = parts;
  return handle(eraseViewerJob, async ({ sealedUserId }, context) => {
    const { organizationId, signal } = context;
    const sealed = Buffer.from(sealedUserId, 'base64');
    const viewer = { organizationId, userId: vault.open(sealed, sealContext(organizationId)) };
    const key = await erasureKey(db, viewer);
    await recordErasure(parts, key, signal);
    const position = await eraseFromLog({ db, eventLog }, viewer, signal);
    if (position === null) return skipped('the erasure is not pending');
    for (const step of steps) await step(viewer, signal);
    const id = erasedId(viewer.userId, replacementEventId(key));
    const left = await countLeft(eventLog, { organizationId, id }, position, signal);
    if (left > 0) throw new Error(`${left} blocks of the event log still contain an erased viewer`);
    await context.finish(async (tx) => {
      const erasure = await lockErasure(tx, key);
      if (erasure === null) return;
      // The erasure was requested again in the meantime; the next attempt starts over.
      if (erasure.position === null) throw new Error('the erasure was requested again');
      await endErasure(tx, key, 'complete');
    });
    return done;
  });
}

/** Runs before anything is erased, so that a restore knows about every erasure. */
async function recordErasure(
  { db, storage }: ErasureParts,
  key: ErasureKey,
  signal: AbortSignal,
): Promise<void> {
  const erasure = await findErasure(db, key);
  if (erasure === null) return;
  const { organizationId, userHash } = key;
  const requestedAt = erasure.requestedAt.toISOString();
  const record = { organizationId, userHash: userHash.toString('hex'), requestedAt };
  await storeErasureRecord(storage, record, signal);
}

/**
 * Rewrites the blocks whose events name the viewer.
 *
 * @returns the range it covered, or null if there is no pending erasure of the viewer
 */
export async function eraseFromLog(
  parts: Pick<ErasureParts, 'db' | 'eventLog'>,
  viewer: Viewer,
  signal: AbortSignal,
): Promise<ErasurePosition | null> {
  const key = await erasureKey(parts.db, viewer);
  const id = erasedId(viewer.userId, replacementEventId(key));
  for (;;) {
    signal.throwIfAborted();
    const page = await erasePage(parts, key, id);
    if (page === null || page.isLast) return page?.position ?? null;
  }
}

/**
 * Rewrites the next page, then stores the progress. A crash between the two repeats the page, which
 * is idempotent.
 */
async function erasePage(
  { db, eventLog }: Pick<ErasureParts, 'db' | 'eventLog'>,
  key: ErasureKey,
  id: ErasedId,
): Promise<{ position: ErasurePosition; isLast: boolean } | null> {
  const position = await inTransaction(db, async (tx) => {
    const erasure = await lockErasure(tx, key);
    if (erasure === null) return null;
    if (erasure.position !== null) return erasure.position;
    const begun = { at: eventLog.start, end: await eventLog.end() };
    await saveErasureProgress(tx, key, { position: begun, blocksRead: 0, eventsRemoved: 0 });
    return begun;
  });
  if (position === null) return null;
  const { organizationId } = key;
  const { next, isLast, blocksRead, eventsRemoved } = await eventLog.rewrite(
    position.at,
    { ...pageLimits, organizationId, until: position.end },
    // Also removes duplicate copies that readers skip.
    ({ text, events }) =>
      namesUser(text(), id) ? events().flatMap((event) => forgetUser(event, id) ?? []) : null,
  );
  const after = { at: next, end: position.end };
  return inTransaction(db, async (tx) => {
    const erasure = await lockErasure(tx, key);
    if (erasure === null) return null;
    // The erasure was requested again in the meantime, so it starts over.
    if (erasure.position === null) return { position: after, isLast: false };
    await saveErasureProgress(tx, key, { position: after, blocksRead, eventsRemoved });
    return { position: after, isLast };
  });
}

/** Whether any event of a block names the user, including copies that readers skip. */
function namesUser(text: string, id: ErasedId): boolean {
  // Parsing every block would take most of the time.
  if (!mayName(text, id)) return false;
  const parsed = JSON.parse(text) as LoggedEvent[];
  return parsed.some((event) => forgetUser(event, id) !== event);
}

/** The number of blocks that still name the viewer, in the range that an erasure covered. */
async function countLeft(
  eventLog: EngagementLog,
  { organizationId, id }: { readonly organizationId: string; readonly id: ErasedId },
  { end }: ErasurePosition,
  signal: AbortSignal,
): Promise<number> {
  let left = 0;
  for (let at = eventLog.start; ;) {
    signal.throwIfAborted();
    // Only rewriting sees the stored bytes, including copies that readers skip.
    const page = await eventLog.rewrite(
      at,
      { ...pageLimits, organizationId, until: end },
      ({ text }) => {
        if (namesUser(text(), id)) left += 1;
        return null;
      },
    );
    if (page.isLast) return left;
    at = page.next;
  }
}
