/**
 * Clips: parts of a broadcast that become separate videos, while it is live or afterwards.
 *
 *   (request) → pending → source stored, processing enqueued
 *                      └→ error, with content.errored
 *
 * 1. The item and its job are in one transaction, so an accepted clip survives a crash.
 * 2. Times count from the broadcast's first picture, without gaps between publishers, as in the
 *    recording.
 */
import type { Static } from 'typebox';
import { Type } from 'typebox';
import { inSavepoint, type Tx } from '../../../platform/database/database.ts';
import { ApiError, fieldError } from '../../../platform/http/errors.ts';
import { refuseBadText } from '../../../platform/http/text-rules.ts';
import { validationError } from '../../../platform/http/validation-error.ts';
import { compileBody } from '../../../platform/http/validation.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { defineJob, doublingDelay } from '../../../platform/queue/job-definition.ts';
import { enqueue } from '../../../platform/queue/queue.ts';
import { createVideoItem, type ItemRow } from '../../content/content.ts';
import { failWithoutSource } from '../../content/item-media/item-media.ts';
import { recordEvent } from '../../webhooks/webhooks.ts';
import type { LiveStreamKey, LiveStreamRow } from '../queries.ts';
import { Clip } from './clip-schemas.ts';

/** Creates a clip's original bytes; the handler is in `clip-job.ts`. */
export const makeClip = defineJob({
  name: 'make-live-clip',
  payload: Type.Object({
    contentId: Type.String(),
    liveStreamId: Type.String(),
    startMs: Type.Integer(),
    endMs: Type.Integer(),
  }),
  timeoutMs: 30 * 60_000,
  retry: { maxAttempts: 6, delayMs: doublingDelay(2_000, 60_000) },
  concurrency: 4,
  sharesPlaces: true,
  writesFilesOf: 'contentId',
  onExhausted: (tx, { contentId }, { organizationId }) =>
    failClip(tx, organizationId, contentId, 'The clip could not be made.'),
});

/** Fails a clip: pending → error, with its event. */
export async function failClip(
  tx: Tx,
  organizationId: string,
  contentId: string,
  message: string,
): Promise<void> {
  const error = { code: 'SOURCE_UNREACHABLE', message } as const;
  for (const { title } of await failWithoutSource(tx, [{ organizationId, contentId }], error)) {
    const data = { contentId, title, status: 'error', error } as const;
    await recordEvent(tx, organizationId, 'content.errored', data);
  }
}

export type MadeClip =
  | { status: 'created'; row: ItemRow }
  | { status: 'failed'; error: { code: string; message: string } };

const clipProblems = compileBody(Clip);

/** Creates the items of clips, each with its job. An invalid clip fails individually. */
export async function createClips(
  tx: Tx,
  key: LiveStreamKey,
  stream: LiveStreamRow,
  clips: readonly Record<string, unknown>[],
  maxDurationMs: number,
): Promise<MadeClip[]> {
  const made: MadeClip[] = [];
  for (const clip of clips) {
    try {
      checkClip(clip);
      const { startSec, endSec, title = `${stream.title} (clip)`, ...metadata } = clip;
      const span = { startMs: Math.round(startSec * 1_000), endMs: Math.round(endSec * 1_000) };
      checkSpan(span, stream, maxDurationMs);
      made.push(await createClip(tx, key, span, { title: title.slice(0, 200), ...metadata }));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const details = error.details?.map(({ path, message }) => `${path} ${message}`) ?? [];
      const message = details.length === 0 ? error.message : `${details.join('; ')}.`;
      made.push({ status: 'failed', error: { code: error.code, message } });
    }
  }
  return made;
}

/** @throws {ApiError} VALIDATION_ERROR */
function checkClip(clip: Record<string, unknown>): asserts clip is Static<typeof Clip> {
  const problems = clipProblems(clip);
  if (problems !== null) throw validationError('body', problems);
  refuseBadText(JSON.stringify(clip), clip);
}

type Span = { startMs: number; endMs: number };

function checkSpan({ startMs, endMs }: Span, stream: LiveStreamRow, maxDurationMs: number): void {
  if (endMs <= startMs) throw fieldError('endSec', 'must be after startSec');
  if (endMs - startMs > maxDurationMs) {
    throw fieldError('endSec', `must be at most ${maxDurationMs / 1_000} seconds after startSec`);
  }
  if (endMs > stream.duration_ms) {
    const seconds = Math.floor(stream.duration_ms / 1_000);
    throw fieldError('endSec', `must be at most ${seconds}, the number of seconds recorded so far`);
  }
}

function createClip(
  tx: Tx,
  { organizationId, liveStreamId }: LiveStreamKey,
  span: Span,
  metadata: Parameters<typeof createVideoItem>[2],
): Promise<MadeClip> {
  return inSavepoint(tx, async () => {
    const row = await createVideoItem(tx, organizationId as OrganizationId, metadata);
    const contentId = row.content_id;
    await enqueue(tx, makeClip, { contentId, liveStreamId, ...span }, { organizationId });
    return { status: 'created', row };
  });
}
