import type { Logger } from 'pino';
import { integer } from '../../platform/config-values.ts';
import type { DatabaseConnection, Db } from '../../platform/database/database.ts';
import { extend } from '../../platform/extension-point.ts';
import { defineFeature } from '../../platform/feature.ts';
import type { Hints } from '../../platform/hints.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { setting } from '../../platform/settings.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { hourMs } from '../../platform/time.ts';
import { contentChanged, type MediaUrls } from '../content/content.ts';
import type { FileHandlers } from '../playback/playback.ts';
import { processMedia } from '../processing/processing.ts';
import type { UploadLimits } from '../uploads/uploads.ts';
import { clipJob } from './clips/clip-job.ts';
import { addClipRoutes } from './clips/clip-routes.ts';
import { makeClip } from './clips/clips.ts';
import { tendStreams } from './disconnections.ts';
import { edgeHints } from './edge/edge-hints.ts';
import { LiveEdge } from './edge/live-edge.ts';
import { Ingest } from './ingest/ingest.ts';
import { LiveThumbnails } from './ingest/live-thumbnails.ts';
import { liveStreamsChanged, rtmpUrlOf } from './live.ts';
import { LiveStates } from './live-states.ts';
import { makeRecording } from './recording-job.ts';
import { cleanUpSegments, recordingJob } from './recording.ts';
import { addLiveRoutes } from './routes.ts';
import { liveEvents } from './webhook-events.ts';
import { webhookEvents } from '../webhooks/webhooks.ts';

type Parts = {
  db: Db;
  log: Logger;
  metrics: Metrics;
  storage: Storage;
  cursors: ListCursors;
  mutations: Mutations;
  hints: Hints;
  publicUrl: string;
  listenHost: string;
  maxLiveDurationMs: number;
  maxMediaDurationMs: number;
  mediaAccess: MediaUrls;
  fileHandlers: FileHandlers;
  /** For code that opens its own connection. */
  connection: DatabaseConnection;
  ownsDataDirectory: boolean;
  mediaNiceness: number;
  uploadLimits: UploadLimits;
};

const tendEveryMs = 1_000;

/** One picture is decoded for each thumbnail. */
const thumbnailLimits = { deadlineMs: 30_000, stallMs: 20_000, memoryLimitBytes: 2 * 1024 ** 3 };

export const live = defineFeature({
  name: 'live',
  apiTags: {
    'Live streams': 'Broadcasts: an encoder publishes by RTMP, viewers play HLS.',
  },
  areas: { 'live-streams': 'live' },
  settings: {
    rtmpPort: setting({
      env: 'REELFEED_RTMP_PORT',
      parse: integer({ min: 0, max: 65_535 }),
      fallback: '1935',
      about:
        'Port on which processes with the role worker take live streams by RTMP, on REELFEED_HOST. 0: none.',
    }),
  },
  tables: ['live_stream', 'live_segment', 'live_format', 'live_part'],
  extensions: [extend(webhookEvents, liveEvents)],
  build(parts: Parts, { rtmpPort }) {
    const { db, log, metrics, storage, cursors, mutations, hints, publicUrl } = parts;
    const liveStreams = new LiveStates(db);
    hints.listen(liveStreamsChanged, () => liveStreams.forget());
    const rtmpUrl = rtmpUrlOf(publicUrl, rtmpPort);
    const onChange = () => {
      hints.give(contentChanged);
      hints.give(liveStreamsChanged);
      hints.give(makeRecording.name);
    };
    const { uploadLimits } = parts;
    const { maxLiveDurationMs: maxDurationMs, mediaNiceness: niceness } = parts;
    const limits = { ...thumbnailLimits, niceness };
    const { onAdded, services } = edgeHints(parts);
    const ingest = { db, storage, log, maxDurationMs, uploadLimits, onChange, onAdded };
    const onRecorded = () => hints.give(processMedia.name);
    let listening: Ingest | null = null;
    metrics.collected({
      type: 'gauge',
      name: 'live_publishers',
      help: 'Encoders that publish a live stream to this process at the moment.',
      collect: () => [{ labels: {}, value: listening?.publishers ?? 0 }],
    });
    return {
      provides: { liveStreams },
      routes: (app, opened) => {
        const edge = opened.use(new LiveEdge({ db, storage, hints }));
        parts.fileHandlers.add((request, reply, file) => edge.handle(request, reply, file));
        addLiveRoutes(app, { db, cursors, mutations, rtmpUrl, onChange });
        const onQueued = () => hints.give(makeClip.name);
        const { mediaAccess: urls, maxMediaDurationMs: maxClipDurationMs } = parts;
        addClipRoutes(app, { mutations, urls, maxClipDurationMs, onQueued });
      },
      jobs: [
        recordingJob({ db, storage, uploadLimits, onRecorded }),
        clipJob({ db, storage, uploadLimits, onChange: onRecorded }),
      ],
      services: [...(rtmpPort === 0 ? [] : [{ name: 'live ingest', run: runIngest }]), ...services],
      chores: [
        {
          name: 'tend live streams',
          intervalMs: tendEveryMs,
          run: async () => {
            if ((await tendStreams(db)) > 0) onChange();
          },
        },
        {
          name: 'clean up live segments',
          intervalMs: hourMs / 4,
          run: (signal) => cleanUpSegments(db, storage, signal),
        },
      ],
    };

    async function runIngest(signal: AbortSignal): Promise<void> {
      using thumbnails = new LiveThumbnails({ db, storage, log, limits, onChange });
      listening = new Ingest({ ...ingest, thumbnails });
      await listening.run({ port: rtmpPort, host: parts.listenHost, hints }, signal);
    }
  },
});
