import type { Logger } from 'pino';
import { choices, integer, optional } from '../../platform/settings/config-values.ts';
import type { DatabaseConnection, Db } from '../../platform/database/database.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { extend } from '../../platform/feature/extension-point.ts';
import { defineFeature, type Chore } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import { ConfigurationError, setting } from '../../platform/settings/settings.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import type { ServedCertificate } from '../../platform/tls/served-certificate.ts';
import { hourMs } from '../../platform/values/time.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
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
import { defaultRungs, LadderPlaces, liveSteps } from './ladder/live-ladder.ts';
import { Ingest } from './ingest/ingest.ts';
import { LiveThumbnails } from './ingest/live-thumbnails.ts';
import { ingestUrlsOf, liveStreamsChanged } from './live.ts';
import { LiveStates } from './live-states.ts';
import { makeRecording } from './recording-job.ts';
import { cleanUpSegments, recordingJob } from './recording.ts';
import { addLiveRoutes } from './routes.ts';
import { liveEvents } from './webhook-events.ts';
import { streamViewers } from './viewers/viewers.ts';
import { webhookEvents } from '../webhooks/webhooks.ts';

type Parts = {
  db: Db;
  log: Logger;
  metrics: Metrics;
  storage: Storage;
  egress: Egress;
  vault: Vault;
  cursors: ListCursors;
  mutations: Mutations;
  hints: Hints;
  publicUrl: string;
  listenHost: string;
  certificate: ServedCertificate | null;
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

function showMetrics(metrics: Metrics, places: LadderPlaces, publishers: () => number): void {
  metrics.collected({
    type: 'gauge',
    name: 'live_publishers',
    help: 'Encoders currently publishing a live stream to this process.',
    collect: () => [{ labels: {}, value: publishers() }],
  });
  metrics.collected({
    type: 'gauge',
    name: 'live_ladders',
    help: 'Live streams for which this process is currently making renditions.',
    collect: () => [{ labels: {}, value: places.taken }],
  });
  metrics.collected({
    type: 'counter',
    name: 'live_renditions_dropped_total',
    help: 'Live stream renditions that this process dropped because it was too slow or because they failed.',
    collect: () => [{ labels: {}, value: places.dropped }],
  });
}

const tendEveryMs = 1_000;

/** A single picture is decoded for each thumbnail. */
const thumbnailLimits = { deadlineMs: 30_000, stallMs: 20_000, memoryLimitBytes: 2 * 1024 ** 3 };

export const live = defineFeature({
  name: 'live',
  apiTags: {
    'Live streams': 'Live broadcasts, published over RTMP or SRT and played as HLS.',
  },
  areas: { 'live-streams': 'live' },
  settings: {
    rtmpPort: setting({
      env: 'REELFEED_RTMP_PORT',
      parse: integer({ min: 0, max: 65_535 }),
      fallback: '1935',
      about:
        'Port on REELFEED_HOST on which processes with the role worker accept live streams over RTMP. 0: none.',
    }),
    rtmpsPort: setting({
      env: 'REELFEED_RTMPS_PORT',
      parse: integer({ min: 0, max: 65_535 }),
      fallback: '0',
      about:
        'Port on which they accept live streams over RTMPS, with the certificate of REELFEED_TLS_CERT, such as 443 or 1936. 0: none.',
    }),
    srtPort: setting({
      env: 'REELFEED_SRT_PORT',
      parse: integer({ min: 0, max: 65_535 }),
      fallback: '0',
      about: 'UDP port on which they accept live streams over SRT, such as 9000. 0: none.',
    }),
    liveRenditions: setting({
      env: 'REELFEED_LIVE_RENDITIONS',
      parse: optional(choices(liveSteps)),
      fallback: '',
      about:
        'Renditions to make during a broadcast in addition to that of the encoder, by the short side of their picture. off: none. Empty: 360 with two or three cores, 540 and 240 with four or more.',
    }),
  },
  tables: [
    'live_stream',
    'live_segment',
    'live_format',
    'live_part',
    'live_rung',
    'live_rung_segment',
    'live_simulcast_target',
    'live_viewer',
  ],
  extensions: [extend(webhookEvents, liveEvents)],
  projections: () => [streamViewers],
  build(parts: Parts, { rtmpPort, rtmpsPort, srtPort, liveRenditions }) {
    refuseWithoutCertificate(parts.certificate, rtmpsPort);
    const { db, log, metrics, storage, cursors, mutations, hints, publicUrl } = parts;
    const liveStreams = new LiveStates(db);
    hints.listen(liveStreamsChanged, () => liveStreams.forget());
    const ports = { rtmp: rtmpPort, rtmps: rtmpsPort, srt: srtPort };
    const ingestUrls = ingestUrlsOf(publicUrl, ports);
    const onChange = () => {
      hints.give(contentChanged);
      hints.give(liveStreamsChanged);
      hints.give(makeRecording.name);
    };
    const { uploadLimits } = parts;
    const { maxLiveDurationMs: maxDurationMs, mediaNiceness: niceness } = parts;
    const limits = { ...thumbnailLimits, niceness };
    const places = new LadderPlaces();
    const ladder = {
      steps: (liveRenditions ?? defaultRungs()).filter((step) => step !== 'off'),
      memoryLimitBytes: thumbnailLimits.memoryLimitBytes,
      niceness,
      scratch: storage.scratch,
      places,
    };
    const { egress, vault } = parts;
    const simulcast = { db, egress, vault };
    const { onAdded, services } = edgeHints(parts);
    const stored = { db, storage, log, maxDurationMs, uploadLimits };
    const ingest = { ...stored, ladder, simulcast, onChange, onAdded };
    const onRecorded = () => hints.give(processMedia.name);
    let listening: Ingest | null = null;
    showMetrics(metrics, places, () => listening?.publishers ?? 0);
    return {
      provides: { liveStreams },
      routes: (app, opened) => {
        const edge = opened.use(new LiveEdge({ db, storage, hints }));
        parts.fileHandlers.add(edge);
        addLiveRoutes(app, { db, cursors, mutations, ingestUrls, egress, vault, onChange });
        const onQueued = () => hints.give(makeClip.name);
        const { mediaAccess: urls, maxMediaDurationMs: maxClipDurationMs } = parts;
        addClipRoutes(app, { mutations, urls, maxClipDurationMs, onQueued });
      },
      jobs: [
        recordingJob({ db, storage, uploadLimits, onRecorded }),
        clipJob({ db, storage, uploadLimits, onChange: onRecorded }),
      ],
      services: [
        ...(Object.values(ports).every((port) => port === 0)
          ? []
          : [{ name: 'live ingest', run: runIngest }]),
        ...services,
      ],
      chores: liveChores({ db, storage, onChange }),
    };

    async function runIngest(signal: AbortSignal): Promise<void> {
      using thumbnails = new LiveThumbnails({ db, storage, log, limits, onChange });
      listening = new Ingest({ ...ingest, thumbnails });
      const { certificate, listenHost: host } = parts;
      const listen = { port: rtmpPort, securePort: rtmpsPort, srtPort, certificate, host };
      await listening.run({ ...listen, hints }, signal);
    }
  },
});

function liveChores(of: { db: Db; storage: Storage; onChange: () => void }): Chore[] {
  const { db, storage, onChange } = of;
  return [
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
  ];
}

function refuseWithoutCertificate(certificate: ServedCertificate | null, rtmpsPort: number): void {
  if (rtmpsPort === 0 || certificate !== null) return;
  throw new ConfigurationError(
    'REELFEED_RTMPS_PORT requires REELFEED_TLS_CERT and REELFEED_TLS_KEY.',
  );
}
