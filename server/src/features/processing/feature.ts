import { availableParallelism } from 'node:os';
import {
  bytes,
  choices,
  duration,
  integer,
  longestTimer,
  optional,
} from '../../platform/settings/config-values.ts';
import type { Db } from '../../platform/database/database.ts';
import { extend, type ExtensionsOf } from '../../platform/feature/extension-point.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import type { ProcessRole } from '../../platform/settings/config.ts';
import { setting } from '../../platform/settings/settings.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { contentChanged, type MediaUrls } from '../content/content.ts';
import { DEFAULT_STEPS, findCage, ImageDecoder, LADDER_STEPS } from '../media/media.ts';
import { attemptsJob } from './attempts.ts';
import { checkMediaEngine } from './checks.ts';
import { mediaJob } from './jobs.ts';
import { popularJob, queuePopular } from './popular.ts';
import { processMedia, sourceRetries, stepsAfterReady, subtitleStores } from './processing.ts';
import { addProcessingRoutes } from './routes.ts';
import { contentEvents } from './webhook-events.ts';
import { webhookEvents } from '../webhooks/webhooks.ts';

/** Interval for looking for popular items. */
const popularIntervalMs = 5 * 60_000;

type Parts = {
  db: Db;
  mutations: Mutations;
  storage: Storage;
  mediaAccess: MediaUrls;
  hints: Hints;
  metrics: Metrics;
  roles: readonly ProcessRole[];
  extensionsOf: ExtensionsOf;
};

/**
 * Reports the cage level as a metric and in `/readyz`. Finding it takes a moment, but no job waits
 * for it.
 */
function showCage(metrics: Metrics): void {
  const gauge = metrics.gauge({
    name: 'media_cage_info',
    help: 'Always 1. The labels say how processes that parse uploads are sandboxed: namespaces or permissions, with or without a seccomp filter.',
    labels: ['level', 'seccomp'],
  });
  findCage()
    .then(({ level, hasSeccomp }) => gauge.set(1, { level, seccomp: String(hasSeccomp) }))
    // The first job retries, and fails with the reason.
    .catch(() => undefined);
}

/** Creates the image decoder and its metrics. */
function openImageDecoder(
  metrics: Metrics,
  options: ConstructorParameters<typeof ImageDecoder>[0],
): ImageDecoder {
  const decoder = new ImageDecoder(options);
  metrics.collected({
    type: 'gauge',
    name: 'image_decodes',
    help: 'Uploaded images being decoded by this process or waiting for it.',
    labels: ['state'],
    collect: () => [
      { labels: { state: 'running' }, value: decoder.decoding },
      { labels: { state: 'waiting' }, value: decoder.waiting },
    ],
  });
  return decoder;
}

export const processing = defineFeature({
  name: 'processing',
  settings: {
    mediaConcurrency: setting({
      env: 'REELFEED_MEDIA_CONCURRENCY',
      parse: optional(integer({ min: 1, max: 64 })),
      fallback: '',
      about:
        'Number of videos that this process processes at the same time, sharing its cores, and as many carousel images. Empty: one for every two cores.',
    }),
    mediaNiceness: setting({
      env: 'REELFEED_MEDIA_NICENESS',
      parse: integer({ min: 0, max: 19 }),
      fallback: '10',
      about:
        'Niceness of media processes. A higher value leaves more CPU time to the service and the database.',
    }),
    mediaRenditions: setting({
      env: 'REELFEED_MEDIA_RENDITIONS',
      parse: choices(LADDER_STEPS),
      fallback: DEFAULT_STEPS.join(','),
      about:
        'Renditions to make of a video, by the short side of their picture. None is larger than the source. 1440 and 2160 take about three and seven times the work of 1080.',
    }),
    mediaAv1Plays: setting({
      env: 'REELFEED_MEDIA_AV1_PLAYS',
      parse: optional(integer({ min: 1, max: 1_000_000_000 })),
      fallback: '1000',
      about:
        'Number of plays after which a video also gets AV1 renditions, made after all other processing. Empty: never.',
    }),
    mediaMaxDurationMs: setting({
      env: 'REELFEED_MEDIA_MAX_DURATION',
      parse: duration({ min: '1s' }),
      fallback: '1h',
      about: 'Maximum duration of a video.',
    }),
    liveMaxDurationMs: setting({
      env: 'REELFEED_LIVE_MAX_DURATION',
      parse: duration({ min: '1s', max: '24h' }),
      fallback: '12h',
      about: 'Maximum duration of a live stream and its recording. A stream that reaches it ends.',
    }),
    mediaDeadlineMs: setting({
      env: 'REELFEED_MEDIA_DEADLINE',
      parse: duration({ min: '1s', max: longestTimer }),
      fallback: '2h',
      about:
        'Time limit of a processing attempt. An attempt that exceeds it is stopped and retried.',
    }),
    mediaStallMs: setting({
      env: 'REELFEED_MEDIA_STALL',
      parse: duration({ min: '1s', max: longestTimer }),
      fallback: '20s',
      about:
        'A processing attempt that uses this much CPU time without progress fails as damaged; one that is idle this long without progress is stopped and retried.',
    }),
    mediaMemoryBytes: setting({
      env: 'REELFEED_MEDIA_MEMORY_BYTES',
      parse: bytes({ min: '256MB' }),
      fallback: '2GB',
      about: 'Maximum memory of one processing attempt; at most 1.5 GB for an image.',
    }),
  },
  tables: ['media_preparation', 'media_ladder'],
  extensions: [extend(webhookEvents, contentEvents)],
  checks: { 'Media engine': checkMediaEngine },
  build(given: Parts, settings) {
    const { db, mutations, storage, mediaAccess, hints, metrics, roles, extensionsOf } = given;
    if (roles.includes('media')) showCage(metrics);
    const cores = availableParallelism();
    const concurrency = settings.mediaConcurrency ?? Math.max(1, Math.floor(cores / 2));
    const mediaLimits = {
      stallMs: settings.mediaStallMs,
      niceness: settings.mediaNiceness,
      memoryLimitBytes: settings.mediaMemoryBytes,
    };
    const parts = {
      db,
      storage,
      limits: mediaLimits,
      steps: settings.mediaRenditions,
      maxDurationMs: settings.mediaMaxDurationMs,
      maxLiveDurationMs: settings.liveMaxDurationMs,
      deadlineMs: settings.mediaDeadlineMs,
      concurrency,
      threads: Math.ceil(cores / concurrency),
      stepsAfterReady: extensionsOf(stepsAfterReady),
      subtitleStores: extensionsOf(subtitleStores),
      onChange: () => hints.give(contentChanged),
    };
    const job = mediaJob(parts);
    const minPlays = settings.mediaAv1Plays;
    const imageDecoder = openImageDecoder(metrics, { concurrency, ...mediaLimits });
    const onQueued = () => hints.give(processMedia.name);
    return {
      provides: {
        imageDecoder,
        mediaNiceness: settings.mediaNiceness,
        maxMediaDurationMs: settings.mediaMaxDurationMs,
        maxLiveDurationMs: settings.liveMaxDurationMs,
      },
      routes: (app) =>
        addProcessingRoutes(app, {
          mutations,
          urls: mediaAccess,
          sourceRetries: extensionsOf(sourceRetries),
          onQueued,
        }),
      jobs: [
        { ...job, roles: ['media'] },
        { ...attemptsJob({ db, storage }), roles: ['media'] },
        { ...popularJob(parts), roles: ['media'] },
      ],
      chores:
        minPlays === null
          ? []
          : [
              {
                name: 'queue popular',
                intervalMs: popularIntervalMs,
                run: () => queuePopular(db, minPlays),
              },
            ],
    };
  },
});
