/** Turns a stream's recording into its item's video; the handler is in `recording.ts`. */
import { Type } from 'typebox';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';

export const makeRecording = defineJob({
  name: 'make-live-recording',
  // Jobs of earlier versions contain only the stream.
  payload: Type.Object({
    liveStreamId: Type.String(),
    contentId: Type.Optional(Type.String()),
  }),
  timeoutMs: 30 * 60_000,
  retry: { maxAttempts: 20, delayMs: doublingDelay(2_000, 600_000) },
  concurrency: 4,
  sharesPlaces: true,
  writesFilesOf: 'contentId',
});
