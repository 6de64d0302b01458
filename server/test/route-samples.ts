/**
 * A successful request for each API operation. Most features have theirs in their folder, in
 * `route-samples.fixture.ts`; here are those of items and of what has several owners.
 */
import { globSync } from 'node:fs';
import path from 'node:path';
import { configurationSamples, experimentSamples } from './experiment-samples.ts';
import { sampleEvent } from './event-samples.ts';
import { addImage, createCarousel, createVideoCarousel, imageBytes } from './carousels.ts';
import { form, sampleBytes } from './media.ts';
import { createItem, createReadyItems, query } from './seed.ts';
import type { Call, TestService } from './service.ts';

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
    ...eventSamples(service),
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
