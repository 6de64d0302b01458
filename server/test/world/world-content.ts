/** Items of every type and in every state. */
import { addImage, createCarousel } from '../carousels.ts';
import { form, putSample, readyItem, settledItem } from '../media.ts';
import { createItem, query } from '../seed.ts';
import { eventually, type TestService } from '../service.ts';
import { askOf } from './ask.ts';
import { hostileEntries, hostileMetadata, hostileTexts } from './hostile-texts.ts';
import { copyMedia } from './playing-copies.ts';

export type WorldContent = {
  /** Ids of items by their peculiarity. */
  items: Record<string, string>;
  /** Titles, for finding an item on a page. */
  titles: Record<string, string>;
};

/** URLs of missing clips for imports. */
export type ImportSources = { gone: string; page: string };

const hourMs = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * hourMs).toISOString();

/**
 * Members of video carousels, each with its own reason for not being in the feed or for needing a
 * token.
 */
const hiddenMembers = {
  memberUnlisted: { visibility: 'unlisted' },
  memberUnlistedToo: { visibility: 'unlisted' },
  memberArchived: {},
  memberProtected: { protected: true },
  memberUnpublished: {},
  memberPrivate: {},
  memberExcluded: {},
} as const;

export async function buildContent(
  service: TestService,
  sources: ImportSources,
): Promise<WorldContent> {
  const items: Record<string, string> = {};
  const [portrait] = await Promise.all([
    readyItem(service, 'portrait.mp4', { title: 'Portrait', tags: ['real'], externalId: 'same' }),
    buildEncoded(service, items),
    buildUnfinished(service, items, sources),
    buildImageCarousels(service, items),
  ]);
  items['portrait'] = portrait.id;
  await buildCopies(service, items);
  await Promise.all([
    buildVideoCarousels(service, items),
    buildCaptions(service, items),
    scheduleItems(service, items),
  ]);
  await pinCarousels(service, items);
  const titles: Record<string, string> = {};
  for (const [name, id] of Object.entries(items)) {
    const { body } = await service.call('GET', `/v1/content/${id}`);
    titles[name] = body.data?.title ?? '';
  }
  return { items, titles };
}

/** Clips that the media engine really processes, because their results differ. */
async function buildEncoded(service: TestService, items: Record<string, string>): Promise<void> {
  const [sound, broken] = await Promise.all([
    readyItem(service, 'audio-only.m4a', { title: 'Sound alone' }),
    putSample(service, 'garbage-pictures.mp4', { title: 'Broken' }).then(({ body }) =>
      settledItem(service, body.data.id, 'error'),
    ),
  ]);
  items['audioOnly'] = sound.id;
  items['corruptMedia'] = broken.id;
}

const failures = {
  tooLarge: 'TOO_LARGE',
  tooLong: 'TOO_LONG',
  processingFailed: 'PROCESSING_FAILED',
} as const;

async function buildUnfinished(
  service: TestService,
  items: Record<string, string>,
  sources: ImportSources,
): Promise<void> {
  const ask = askOf(service);
  items['pending'] = (await createItem(service, { title: 'Nobody sent its bytes' })).id;
  items['processing'] = (await createItem(service, { title: 'Halfway through' })).id;
  const halfway = `update content set upload_status = 'processing', progress = 0.42 where content_id = $1`;
  await query(service, halfway, [items['processing']]);
  for (const [name, code] of Object.entries(failures)) {
    const { id } = await createItem(service, { title: `Failed: ${code}`, tags: ['failed'] });
    items[name] = id;
    await query(
      service,
      `update content set upload_status = 'error', error_code = $2, error_message = $3
       where content_id = $1`,
      [id, code, hostileTexts.image],
    );
  }
  await ask('POST', '/v1/content/import', {
    items: [
      { sourceUrl: sources.gone, title: 'Its source is gone', externalId: 'far' },
      { sourceUrl: sources.page, title: 'Its source is a page', externalId: 'page' },
    ],
  });
  const failed = (externalId: string) =>
    eventually(`the import of ${externalId} to fail`, async () => {
      const [item] = await ask('GET', `/v1/content?externalId=${externalId}`);
      return item?.uploadStatus === 'error' ? String(item.id) : null;
    });
  items['sourceUnreachable'] = await failed('far');
  items['unsupportedMedia'] = await failed('page');
}

async function buildImageCarousels(
  service: TestService,
  items: Record<string, string>,
): Promise<void> {
  const make = async (name: string, count: number, fields: object) => {
    const { id } = await createCarousel(service, 'carousel', fields);
    items[name] = id;
    for (let n = 0; n < count; n += 1) {
      const altText = n % 2 === 0 ? hostileTexts.image : hostileTexts.arabic;
      await addImage(service, id, { color: `hsl(${n * 36} 60% 50%)`, altText });
    }
  };
  await Promise.all([
    make('noImages', 0, { title: 'No pictures yet' }),
    make('oneImage', 1, { title: 'One picture' }),
    make('tenImages', 10, {
      ...hostileMetadata('hebrew'),
      title: 'Ten pictures',
      externalId: 'ten',
    }),
    make('movingImages', 3, { title: 'Pictures that move on', autoScrollInterval: 1 }),
  ]);
}

/** One item for each hostile text, the members of carousels, and hidden items. */
async function buildCopies(service: TestService, items: Record<string, string>): Promise<void> {
  const plain = (title: string, fields: object = {}) => ({ title, tags: ['plain'], ...fields });
  const wanted: Record<string, object> = {
    ...Object.fromEntries(hostileEntries.map(([name]) => [name, hostileMetadata(name)])),
    ...Object.fromEntries(
      Object.entries(hiddenMembers).map(([name, fields]) => [name, plain(name, fields)]),
    ),
    memberOne: plain('A member that is in the feed'),
    memberTwo: plain('Another member that is in the feed'),
    unlisted: plain('Unlisted', { visibility: 'unlisted' }),
    private: plain('Private', { visibility: 'private' }),
    scheduled: plain('Comes tomorrow', { publishAt: inHours(24) }),
    expired: plain('Is over'),
    archived: plain('Archived'),
    unpublished: plain('Withdrawn'),
    captioned: plain('With captions'),
    protected: plain('Protected', { protected: true }),
    story: plain('With an article', { articleUrl: 'https://a.example/story?a=1&b="2"' }),
    purged: plain('Deleted for good'),
    plus: plain('In better quality', { videoQuality: 'plus' }),
  };
  const entries = Object.entries(wanted);
  await Promise.all(
    entries.map(async ([name, fields]) => {
      items[name] = (await createItem(service, fields)).id;
    }),
  );
  await copyMedia(
    service,
    items['portrait'] ?? '',
    entries.map(([name]) => items[name] ?? ''),
  );
}

async function scheduleItems(service: TestService, items: Record<string, string>): Promise<void> {
  const ask = askOf(service);
  await query(
    service,
    `update content set expires_at = clock_timestamp() - interval '1 hour',
       revision = revision + 1 where content_id = $1`,
    [items['expired']],
  );
  await ask('DELETE', `/v1/content/${items['archived']}`);
  await ask('PATCH', `/v1/content/${items['unpublished']}`, { publishStatus: 'unpublished' });
}

async function buildVideoCarousels(
  service: TestService,
  items: Record<string, string>,
): Promise<void> {
  const ask = askOf(service);
  const make = async (name: string, title: string, members: readonly string[]) => {
    const { id } = await createCarousel(service, 'video_carousel', { title, tags: ['carousel'] });
    items[name] = id;
    const contentIds = members.map((member) => items[member] ?? '');
    if (contentIds.length > 0) await ask('POST', `/v1/content/${id}/videos`, { contentIds });
  };
  await make('emptyRow', 'An empty row', []);
  await make('strangerRow', 'A row of clips that are nowhere else', Object.keys(hiddenMembers));
  await make('knownRow', 'A row of clips that are in the feed too', ['memberOne', 'memberTwo']);
  await make('mixedRow', hostileTexts.script, ['memberOne', 'memberUnlistedToo', 'emoji']);
  await make('goneRow', 'A row whose clips are all gone', ['memberArchived', 'memberUnpublished']);
  await ask('DELETE', `/v1/content/${items['memberArchived']}`);
  const unpublish = { publishStatus: 'unpublished' };
  await ask('PATCH', `/v1/content/${items['memberUnpublished']}`, unpublish);
  await ask('PATCH', `/v1/content/${items['memberPrivate']}`, { visibility: 'private' });
}

async function buildCaptions(service: TestService, items: Record<string, string>): Promise<void> {
  const tracks = { en: 'English', de: '', ar: hostileTexts.arabic, ja: hostileTexts.formula };
  for (const [language, label] of Object.entries(tracks)) {
    const line = language === 'ar' ? hostileTexts.arabic : hostileTexts.script;
    const fields: [string, string | Buffer][] = [
      ['language', language],
      ['file', Buffer.from(`WEBVTT\n\n00:00.000 --> 00:02.000\n${line}\n`)],
    ];
    if (label !== '') fields.push(['label', label.slice(0, 100)]);
    const body = form(fields);
    const { status, text } = await service.call(
      'POST',
      `/v1/content/${items['captioned']}/captions`,
      { body },
    );
    if (status !== 201) throw new Error(text);
  }
}

/** A player that knows items only from earlier slides has seen none of these members. */
async function pinCarousels(service: TestService, items: Record<string, string>): Promise<void> {
  const ask = askOf(service);
  const match = { contentId: items['memberExcluded'] };
  await ask('POST', '/v1/ranking/rules', { type: 'exclude', match });
  const first = ['strangerRow', 'tenImages', 'mixedRow', 'oneImage', 'knownRow', 'movingImages'];
  for (const [position, name] of first.entries()) {
    await ask('POST', '/v1/ranking/rules', {
      type: 'pin',
      match: { contentId: items[name] },
      position,
    });
  }
}
