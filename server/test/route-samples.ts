/**
 * A successful request for each API operation. A new feature has its own in its folder, in
 * `route-samples.fixture.ts`.
 */
import { globSync } from 'node:fs';
import path from 'node:path';
import { configurationSamples, experimentSamples } from './experiment-samples.ts';
import { sampleEvent } from './event-samples.ts';
import { addImage, createCarousel, createVideoCarousel, imageBytes } from './carousels.ts';
import { form, sampleBytes } from './media.ts';
import { createItem, createItems, createReadyItems, query } from './seed.ts';
import { eventually, type Call, type TestService } from './service.ts';

export type RouteSample = () => Promise<readonly [path: string, call?: Call]>;

/** The exports of a feature's `route-samples.fixture.ts`. */
type SamplesOfFeature = (service: TestService, receiverUrl: string) => Record<string, RouteSample>;

const ofFeatures = await Promise.all(
  globSync('../src/features/*/route-samples.fixture.ts', { cwd: import.meta.dirname })
    .toSorted()
    .map(async (file) => {
      const module = (await import(path.join(import.meta.dirname, file))) as {
        routeSamples: SamplesOfFeature;
      };
      return module.routeSamples;
    }),
);

function samplesOfFeatures(service: TestService, receiverUrl: string): Record<string, RouteSample> {
  return Object.fromEntries(
    ofFeatures.flatMap((samplesOf) => Object.entries(samplesOf(service, receiverUrl))),
  );
}

/** Samples by operation id. `receiverUrl` is where webhooks may be sent. */
export function routeSamples(
  service: TestService,
  receiverUrl: string,
): Record<string, RouteSample> {
  return {
    ...keySamples(service),
    ...contentSamples(service),
    ...carouselSamples(service),
    ...bulkSamples(service),
    ...webhookSamples(service, receiverUrl),
    ...eventSamples(service),
    ...analyticsSamples(service),
    ...exportSamples(service, receiverUrl),
    ...rankingSamples(service),
    ...configurationSamples(service),
    ...experimentSamples(service),
    ...samplesOfFeatures(service, receiverUrl),
  };
}

const fullItem = {
  title: 'Everything \u{1F3AC}',
  description: 'All fields are given',
  tags: ['one', 'two'],
  section: 'Sport',
  author: 'Ada',
  customMetadata: { level: 1, nested: { list: [1, null] } },
  visibility: 'unlisted',
  protected: true,
  publishAt: '2026-01-01T00:00:00Z',
  expiresAt: '2099-01-01T00:00:00+02:00',
  externalId: 'full-1',
  videoQuality: 'plus',
  articleUrl: 'https://a.example/article',
};

function keySamples(service: TestService): Record<string, RouteSample> {
  const makeViewerKey = async () => {
    const { body } = await service.call('POST', '/v1/viewer-keys', { body: { name: 'A key' } });
    return `/v1/viewer-keys/${body.data.id}`;
  };
  return {
    listViewerKeys: async () => ['/v1/viewer-keys'],
    createViewerKey: async () => ['/v1/viewer-keys', { body: { name: 'App server' } }],
    rotateViewerKey: async () => [`${await makeViewerKey()}/rotate`, { body: { gracePeriod: 60 } }],
    deleteViewerKey: async () => [await makeViewerKey()],
    listKeys: async () => ['/v1/keys?limit=2'],
    createKey: async () => ['/v1/keys', { body: { type: 'publishable', name: 'A key' } }],
    revokeKey: async () => {
      const body = { type: 'publishable', name: 'To be revoked' };
      const made = await service.call('POST', '/v1/keys', { body });
      return [`/v1/keys/${made.body.data.id}`];
    },
    rotateKey: async () => {
      const body = { type: 'publishable', name: 'To be rotated' };
      const made = await service.call('POST', '/v1/keys', { body });
      return [`/v1/keys/${made.body.data.id}/rotate`, { body: { gracePeriod: 60 } }];
    },
    listKeyRequests: async () => {
      const { body } = await service.call('GET', '/v1/keys');
      return [`/v1/keys/${body.data[0].id}/requests?limit=2`];
    },
    listAudit: async () => ['/v1/audit?limit=3&action=createKey'],
    getOrganization: async () => ['/v1/organization'],
    updateOrganization: async () => ['/v1/organization', { body: { name: 'Another name' } }],
  };
}

const captionSample = 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n';

function carouselSamples(service: TestService): Record<string, RouteSample> {
  const withVideos = async () => {
    const [id, entries] = await createVideoCarousel(service);
    return { id, entryIds: entries.map((entry) => entry.id) };
  };
  const withImages = async () => {
    const { id } = await createCarousel(service, 'carousel');
    const images = [await addImage(service, id), await addImage(service, id)];
    return { id, imageIds: images.map((image) => image.id) };
  };
  return {
    importContent: async () => [
      '/v1/content/import',
      { body: { items: [{ sourceUrl: 'https://192.0.2.1/clip.mp4', title: 'Never fetched' }] } },
    ],
    addCaptions: async () => {
      const { id } = await createItem(service);
      const body = form([
        ['file', Buffer.from(captionSample)],
        ['language', 'en'],
      ]);
      return [`/v1/content/${id}/captions`, { body }];
    },
    listCaptions: async () => [`/v1/content/${(await createItem(service)).id}/captions`],
    removeCaptions: async () => {
      const { id } = await createItem(service);
      const body = form([
        ['file', Buffer.from(captionSample)],
        ['language', 'de'],
      ]);
      const made = await service.call('POST', `/v1/content/${id}/captions`, { body });
      return [`/v1/content/${id}/captions/${made.body.data.id}`];
    },
    setCover: async () => {
      const [id] = await createReadyItems(service, 1);
      return [`/v1/content/${id}/cover`, { body: form([['file', await imageBytes()]]) }];
    },
    removeCover: async () => [`/v1/content/${(await createReadyItems(service, 1))[0]}/cover`],
    createCarousel: async () => [
      '/v1/content',
      { body: { contentType: 'carousel', title: 'Pictures', autoScrollInterval: 2.5 } },
    ],
    listCarouselVideos: async () => [`/v1/content/${(await withVideos()).id}/videos`],
    addCarouselVideos: async () => {
      const { id } = await createCarousel(service, 'video_carousel');
      const contentIds = await createReadyItems(service, 2);
      return [`/v1/content/${id}/videos`, { body: { contentIds } }];
    },
    orderCarouselVideos: async () => {
      const { id, entryIds } = await withVideos();
      return [`/v1/content/${id}/videos/order`, { body: { entryIds: entryIds.toReversed() } }];
    },
    removeCarouselVideo: async () => {
      const { id, entryIds } = await withVideos();
      return [`/v1/content/${id}/videos/${entryIds[0]}`];
    },
    addCarouselImage: async () => {
      const { id } = await createCarousel(service, 'carousel');
      const body = form([
        ['file', await imageBytes()],
        ['altText', 'A picture'],
      ]);
      return [`/v1/content/${id}/images`, { body }];
    },
    orderCarouselImages: async () => {
      const { id, imageIds } = await withImages();
      return [`/v1/content/${id}/images/order`, { body: { imageIds: imageIds.toReversed() } }];
    },
    removeCarouselImage: async () => {
      const { id, imageIds } = await withImages();
      return [`/v1/content/${id}/images/${imageIds[0]}`];
    },
  };
}

function contentSamples(service: TestService): Record<string, RouteSample> {
  return {
    listContent: async () => ['/v1/content?archived=true&limit=100'],
    getContent: async () => [`/v1/content/${(await createItem(service, fullItem)).id}`],
    updateContent: async () => [
      `/v1/content/${(await createItem(service)).id}`,
      { body: { ...fullItem, externalId: null } },
    ],
    archiveContent: async () => [`/v1/content/${(await createItem(service)).id}`],
    restoreContent: async () => {
      const { id } = await createItem(service);
      await service.call('DELETE', `/v1/content/${id}`);
      return [`/v1/content/${id}/restore`];
    },
    uploadContent: async () => ['/v1/content/upload', { body: { title: 'An upload' } }],
    putUploadBytes: async () => {
      const { uploadUrl } = await createItem(service);
      const body = await sampleBytes('small.mp4');
      return [new URL(uploadUrl).pathname, { body, key: null }];
    },
    retryProcessing: async () => {
      const { id } = await createItem(service);
      const failed = "upload_status = 'error', error_code = 'PROCESSING_FAILED', source_key = 'a'";
      await query(service, `update content set ${failed} where content_id = $1`, [id]);
      return [`/v1/content/${id}/retry`];
    },
    createPlaybackToken: async () => {
      const [id] = await createReadyItems(service, 1, () => ({ protected: true }));
      await query(service, `update content set media_prefix = 'a/b' where content_id = $1`, [id]);
      return [`/v1/content/${id}/playback-token`, { key: service.publishableKey }];
    },
    getFeed: async () => ['/v1/feed?explain=true'],
  };
}

function bulkSamples(service: TestService): Record<string, RouteSample> {
  const unknown = '01890000-0000-7000-8000-000000000000';
  const items = async () => [...(await createItems(service, 2)), unknown];
  const job = async (): Promise<string> => {
    await createItems(service, 2, () => ({ tags: ['job'] }));
    const body = { operation: 'tag', filter: { tags: ['job'] }, update: { addTags: ['done'] } };
    const made = await service.call('POST', '/v1/content/bulk/jobs', { body });
    return `/v1/content/bulk/jobs/${made.body.data.jobId}`;
  };
  return {
    bulkUpdateContent: async () => {
      const changes = (await items()).map((id) => ({ id, title: 'Changed' }));
      return ['/v1/content/bulk/update', { body: { items: changes, continueOnError: true } }];
    },
    bulkDeleteContent: async () => [
      '/v1/content/bulk/delete',
      { body: { ids: await items(), continueOnError: true } },
    ],
    bulkTagContent: async () => [
      '/v1/content/bulk/tag',
      { body: { ids: await items(), addTags: ['a'], removeTags: ['b'] } },
    ],
    bulkSetVisibility: async () => [
      '/v1/content/bulk/visibility',
      { body: { ids: await items(), visibility: 'private' } },
    ],
    createBulkJob: async () => [
      '/v1/content/bulk/jobs',
      { body: { operation: 'unpublish', filter: { tags: ['a'] } } },
    ],
    cancelBulkJob: async () => {
      // Long enough not to end before it is cancelled.
      await query(
        service,
        `insert into content (organization_id, content_id, content_type, title, tags, playback_id)
        select organization_id, gen_random_uuid(), 'video', 'Item ' || n, '{long}', md5(n || random()::text)
        from organization, generate_series(1, 30000) n`,
      );
      const body = { operation: 'tag', filter: { tags: ['long'] }, update: { addTags: ['b'] } };
      const made = await service.call('POST', '/v1/content/bulk/jobs', { body });
      return [`/v1/content/bulk/jobs/${made.body.data.jobId}/cancel`];
    },
    listBulkJobs: async () => ['/v1/content/bulk/jobs'],
    getBulkJob: async () => {
      const path = await job();
      await eventually('the bulk job to end', async () => {
        const { body } = await service.call('GET', path);
        return body.data.status === 'complete' ? true : null;
      });
      return [path];
    },
    listBulkJobFailures: async () => [`${await job()}/failures`],
    listPurges: async () => ['/v1/purges'],
  };
}

function eventSamples(service: TestService): Record<string, RouteSample> {
  const key = service.publishableKey;
  return {
    sendEvent: async () => {
      const { id } = await createItem(service);
      return ['/v1/events', { key, body: sampleEvent('like', id) }];
    },
    eraseUserData: async () => ['/v1/users/ada/data'],
    eraseUserDataByQuery: async () => ['/v1/users/data?userId=..'],
    getUserDataErasureByQuery: async () => {
      await service.call('DELETE', '/v1/users/data?userId=.');
      return ['/v1/users/data?userId=.'];
    },
    getUserDataErasure: async () => {
      await service.call('DELETE', '/v1/users/bob/data');
      return ['/v1/users/bob/data'];
    },
    sendEvents: async () => {
      const { id } = await createItem(service);
      const events = [sampleEvent('save', id), sampleEvent('like', 'unknown')];
      return ['/v1/events/batch', { key, body: { events } }];
    },
  };
}

function webhookSamples(service: TestService, url: string): Record<string, RouteSample> {
  const body = { url, events: ['content.ready'], description: 'A sample' };
  const create = async (): Promise<string> => {
    const { body: made } = await service.call('POST', '/v1/webhooks', { body });
    return `/v1/webhooks/${made.data.id}`;
  };
  const tested = async () => {
    const path = await create();
    const test = { body: { event: 'content.ready' } };
    const { body: sent } = await service.call('POST', `${path}/test`, test);
    return { path, deliveryId: String(sent.data.deliveryId) };
  };
  return {
    listWebhooks: async () => ['/v1/webhooks'],
    createWebhook: async () => ['/v1/webhooks', { body }],
    getWebhook: async () => [(await tested()).path],
    updateWebhook: async () => [await create(), { body: { status: 'disabled' } }],
    deleteWebhook: async () => [await create()],
    createWebhookPortalLink: async () => [
      '/v1/webhook-portal-links',
      { body: { customer: 'acme' } },
    ],
    listWebhookPortalLinks: async () => ['/v1/webhook-portal-links'],
    revokeWebhookPortalLink: async () => {
      const link = { body: { customer: 'acme' } };
      const made = await service.call('POST', '/v1/webhook-portal-links', link);
      return [`/v1/webhook-portal-links/${made.body.data.id}`];
    },
    rotateWebhookSecret: async () => [`${await create()}/rotate-secret`],
    testWebhook: async () => [`${await create()}/test`, { body: { event: 'export.ready' } }],
    listWebhookDeliveries: async () => [`${(await tested()).path}/deliveries`],
    listWebhookEvents: async () => ['/v1/webhook-events'],
    listRecentWebhookEvents: async () => [
      `/v1/webhook-events/recent?since=${new Date(Date.now() - 60_000).toISOString()}`,
    ],
    triggerWebhookEvent: async () => [
      '/v1/webhook-events/trigger',
      { body: { event: 'export.ready' } },
    ],
    getWebhookDelivery: async () => {
      const { path, deliveryId } = await tested();
      return [`${path}/deliveries/${deliveryId}`];
    },
    recoverWebhookDeliveries: async () => [
      `${await create()}/recover`,
      { body: { since: new Date(Date.now() - 60_000).toISOString() } },
    ],
    retryWebhookDelivery: async () => {
      const { path, deliveryId } = await tested();
      return [`${path}/deliveries/${deliveryId}/retry`];
    },
    replayWebhookEvents: async () => [
      `${await create()}/replay`,
      { body: { since: new Date(Date.now() - 60_000).toISOString() } },
    ],
  };
}

function analyticsSamples(service: TestService): Record<string, RouteSample> {
  const days = 'startDate=2026-01-01&endDate=2026-01-31';
  return {
    getAnalyticsOverview: async () => [`/v1/analytics/overview?granularity=hour`],
    getAudienceAnalytics: async () => [`/v1/analytics/audience?${days}`],
    listContentAnalytics: async () => [`/v1/analytics/content?sort=completionRate&limit=2`],
    getContentAnalytics: async () => [
      `/v1/analytics/content/${(await createItem(service)).id}?${days}&granularity=week`,
    ],
    getEngagementAnalytics: async () => [`/v1/analytics/engagement?segment=tag`],
    getQualityAnalytics: async () => [`/v1/analytics/quality`],
    getMovers: async () => ['/v1/analytics/movers?direction=up&limit=3'],
    getTrafficSources: async () => [`/v1/analytics/sources?${days}`],
    getContentBenchmark: async () => [
      `/v1/analytics/content/${(await createItem(service)).id}/benchmark`,
    ],
    getViewerAnalytics: async () => [`/v1/analytics/viewers?${days}`],
    getHourAnalytics: async () => ['/v1/analytics/hours'],
    getRealtimeAnalytics: async () => ['/v1/analytics/realtime'],
    getRetentionAnalytics: async () => [`/v1/analytics/retention?${days}`],
  };
}

function exportSamples(service: TestService, receiverUrl: string): Record<string, RouteSample> {
  const range = { startDate: '2026-01-01', endDate: '2026-01-31' };
  const make = async () => {
    const body = { dataset: 'content', format: 'csv', ...range };
    const made = await service.call('POST', '/v1/exports', { body });
    return `/v1/exports/${made.body.data.id}`;
  };
  // A job that no worker advances.
  const makeUnfinished = async () => {
    const made = await make();
    await eventually('the export', async () => {
      const { body } = await service.call('GET', made);
      return body.data.status === 'ready' ? true : null;
    });
    const id = made.slice(made.lastIndexOf('/') + 1);
    const begin = `update data_export set status = 'pending', expires_at = null where export_id = $1`;
    await query(service, begin, [id]);
    return made;
  };
  const schedule = {
    dataset: 'events',
    format: 'parquet',
    compression: 'zstd',
    filter: { country: 'DE' },
    delayHours: 25,
  };
  const destination = {
    bucket: 'acme-lake',
    prefix: 'reelfeed',
    // Accepts any PUT.
    endpoint: new URL(receiverUrl).origin,
    accessKeyId: 'AKIAEXAMPLE',
    secretAccessKey: 'a-secret-access-key',
    every: 'hour',
    filter: { device: 'ios' },
  };
  const makeDestination = async () => {
    const made = await service.call('POST', '/v1/exports/destinations', { body: destination });
    return `/v1/exports/destinations/${made.body.data.id}`;
  };
  const makeSchedule = async () => {
    const made = await service.call('POST', '/v1/exports/schedules', { body: schedule });
    return `/v1/exports/schedules/${made.body.data.id}`;
  };
  return {
    createExport: async () => [
      '/v1/exports',
      { body: { dataset: 'events', format: 'ndjson', compression: 'gzip', ...range } },
    ],
    listExports: async () => ['/v1/exports?limit=2'],
    getExport: async () => [await make()],
    cancelExport: async () => [`${await makeUnfinished()}/cancel`],
    deleteExport: async () => [await make()],
    listExportSchemas: async () => ['/v1/exports/schemas'],
    createExportSchedule: async () => ['/v1/exports/schedules', { body: schedule }],
    listExportSchedules: async () => {
      await makeSchedule();
      return ['/v1/exports/schedules'];
    },
    deleteExportSchedule: async () => [await makeSchedule()],
    createExportDestination: async () => ['/v1/exports/destinations', { body: destination }],
    listExportDestinations: async () => {
      await makeDestination();
      return ['/v1/exports/destinations'];
    },
    deleteExportDestination: async () => [await makeDestination()],
  };
}

function rankingSamples(service: TestService): Record<string, RouteSample> {
  const config = { weights: { recency: 0.5 }, exploration: 0.2 };
  const rule = { type: 'boost', match: { tags: ['news'] }, factor: 2 };
  const createRule = async (): Promise<string> => {
    const made = await service.call('POST', '/v1/ranking/rules', { body: rule });
    return `/v1/ranking/rules/${made.body.data.id}`;
  };
  return {
    listSimilarContent: async () => {
      const tags = ['similar'];
      const [id = ''] = await createReadyItems(service, 3, () => ({ tags }));
      return [`/v1/content/${id}/similar?limit=2`];
    },
    getFeedItem: async () => {
      const [id = ''] = await createReadyItems(service, 1);
      return [`/v1/feed/items/${id}`];
    },
    listViewerReactions: async () => {
      const [id = ''] = await createReadyItems(service, 1);
      return [`/v1/feed/reactions?userId=ada&contentIds=${id}`];
    },
    listRankingSignals: async () => ['/v1/ranking/signals'],
    getRankingConfig: async () => ['/v1/ranking/config'],
    replaceRankingConfig: async () => ['/v1/ranking/config', { body: config }],
    listRankingConfigVersions: async () => ['/v1/ranking/config/versions'],
    restoreRankingConfigVersion: async () => {
      const made = await service.call('PUT', '/v1/ranking/config', { body: config });
      return [`/v1/ranking/config/versions/${made.body.data.version}/restore`];
    },
    listRankingRules: async () => ['/v1/ranking/rules'],
    createRankingRule: async () => ['/v1/ranking/rules', { body: rule }],
    updateRankingRule: async () => [await createRule(), { body: { factor: 3 } }],
    deleteRankingRule: async () => [await createRule()],
    previewRanking: async () => [
      '/v1/ranking/preview',
      { body: { userId: 'ada', configs: [{}, { diversity: 1 }] } },
    ],
  };
}
