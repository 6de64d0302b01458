/** Demo content besides the clips: image carousels, a video carousel and captions. */
import { createAdmin, type Admin } from '@reelfeed/client/server';
import sharp from 'sharp';
import { untilProcessed } from './clip-uploads.ts';
import { languages } from './languages.ts';

const width = 1080;
const height = 1440;

type Gallery = {
  externalId: string;
  title: string;
  description: string;
  author: string;
  tags: string[];
  autoScrollInterval: number | null;
  /** The two colours of each image, and its alternative text. */
  images: readonly (readonly [from: string, to: string, altText: string])[];
};

const galleries: readonly Gallery[] = [
  {
    externalId: 'demo-three-skies',
    title: 'Three skies',
    description: 'Images that advance by themselves every four seconds.',
    author: 'Grace',
    tags: ['calm', 'colour', 'images'],
    autoScrollInterval: 4,
    images: [
      ['#ffb36b', '#5b2a86', 'A sun over an orange sky'],
      ['#8fd3f4', '#2b5876', 'A sun over a blue sky'],
      ['#232526', '#8e9eab', 'A sun over a grey sky'],
    ],
  },
  {
    externalId: 'demo-swatches',
    title: 'Swatches to swipe',
    description: 'Images that wait for your thumb.',
    author: 'Studio',
    tags: ['test', 'colour', 'images'],
    autoScrollInterval: null,
    images: [
      ['#11998e', '#38ef7d', 'Green'],
      ['#ee0979', '#ff6a00', 'Red to orange'],
      ['#4776e6', '#8e54e9', 'Blue to violet'],
      ['#f7971e', '#ffd200', 'Yellow'],
    ],
  },
  {
    externalId: 'demo-good-morning',
    title: languages.mixedDirections,
    description: `${languages.arabic}\n${languages.hebrew}\n${languages.japanese}`,
    author: 'نور',
    tags: ['calm', 'قهوة', 'コーヒー', 'images'],
    autoScrollInterval: 3,
    images: [
      ['#614385', '#516395', languages.arabic],
      ['#c94b4b', '#4b134f', languages.hebrew],
      ['#355c7d', '#c06c84', languages.japanese],
      ['#134e5e', '#71b280', languages.thai],
    ],
  },
];

/** Items pinned near the front of the feed, by position, so that they are easy to find. */
const pinned = new Map([
  [1, 'demo-a-day-outside'],
  [3, 'demo-good-morning'],
]);

const playlist = {
  externalId: 'demo-a-day-outside',
  title: 'A day outside',
  description: 'A video carousel: swipe to the side for the next clip.',
  author: 'Stephen',
  tags: ['nature', 'day'],
  clips: ['demo-blue-hour', 'demo-into-the-woods', 'demo-first-snow'],
};

const captioned = 'demo-counting-in-squares';
const captions: readonly (readonly [language: string, lines: readonly [string, string, string]])[] =
  [
    ['en', ['The counter runs.', 'The squares follow.', 'And once more.']],
    ['de', ['Der Zähler läuft.', 'Die Quadrate folgen.', 'Und noch einmal.']],
  ];

/** Adds missing items through the public API once the clips are playable. */
export async function addCollections(
  baseUrl: string,
  secretKey: string,
  signal: AbortSignal,
): Promise<void> {
  const admin = createAdmin({ baseUrl, secretKey });
  const post = async (path: string, form: FormData): Promise<void> => {
    const headers = { authorization: `Bearer ${secretKey}` };
    const answer = await fetch(`${baseUrl}${path}`, {
      method: 'POST',
      headers,
      body: form,
      signal,
    });
    if (!answer.ok) throw new Error(`The demo's ${path} failed: ${await answer.text()}`);
  };
  for (const gallery of galleries) await addGallery(admin, post, gallery, signal);
  await untilProcessed({ url: baseUrl, secretKey }, signal);
  await addPlaylist(admin, signal);
  await addPins(admin, signal);
  await addCaptions(admin, post, signal);
}

type Post = (path: string, form: FormData) => Promise<void>;

async function findItem(admin: Admin, externalId: string, signal: AbortSignal) {
  const query = { externalId, archived: 'true', limit: 1 } as const;
  const { data } = await admin.get('/v1/content', { query, signal });
  return data[0] ?? null;
}

/** If an earlier start was killed, the next one adds the missing images. */
async function addGallery(
  admin: Admin,
  post: Post,
  { images, ...metadata }: Gallery,
  signal: AbortSignal,
): Promise<void> {
  const body = { contentType: 'carousel', section: 'Demo', ...metadata } as const;
  const known = await findItem(admin, metadata.externalId, signal);
  const { id, images: present } = known ?? (await admin.post('/v1/content', { body, signal })).data;
  for (const [from, to, altText] of images.slice(present.length)) {
    const form = new FormData();
    form.set('altText', altText);
    form.set('file', await picture(from, to), 'image.png');
    await post(`/v1/content/${id}/images`, form);
  }
}

/** A gradient with a disc on it. */
async function picture(from: string, to: string): Promise<Blob> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    <linearGradient id="sky" x2="0" y2="1"><stop stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient>
    <rect width="100%" height="100%" fill="url(#sky)"/>
    <circle cx="50%" cy="38%" r="${width / 6}" fill="#ffffff" fill-opacity="0.6"/>
  </svg>`;
  return new Blob([new Uint8Array(await sharp(Buffer.from(svg)).png().toBuffer())]);
}

async function addPlaylist(admin: Admin, signal: AbortSignal): Promise<void> {
  const { clips, ...metadata } = playlist;
  const body = { contentType: 'video_carousel', section: 'Demo', ...metadata } as const;
  const known = await findItem(admin, metadata.externalId, signal);
  const { id } = known ?? (await admin.post('/v1/content', { body, signal })).data;
  const { data: entries } = await admin.get('/v1/content/{id}/videos', { path: { id }, signal });
  const items = await Promise.all(clips.map((clip) => findItem(admin, clip, signal)));
  const contentIds = items.flatMap((item) => {
    const isUsable = item?.uploadStatus === 'ready';
    return isUsable && !entries.some(({ contentId }) => contentId === item.id) ? [item.id] : [];
  });
  if (contentIds.length === 0) return;
  await admin.post('/v1/content/{id}/videos', { path: { id }, body: { contentIds }, signal });
}

/** A pin that was removed stays removed: pins are only added if there are no rules at all. */
async function addPins(admin: Admin, signal: AbortSignal): Promise<void> {
  const { data: rules } = await admin.get('/v1/ranking/rules', { query: { limit: 1 }, signal });
  if (rules.length > 0) return;
  for (const [position, externalId] of pinned) {
    const item = await findItem(admin, externalId, signal);
    if (item === null) continue;
    const body = { type: 'pin', match: { contentId: item.id }, position } as const;
    await admin.post('/v1/ranking/rules', { body, signal });
  }
}

async function addCaptions(admin: Admin, post: Post, signal: AbortSignal): Promise<void> {
  const item = await findItem(admin, captioned, signal);
  if (item === null) return;
  for (const [language, lines] of captions) {
    if (item.captionTracks.some((track) => track.language === language)) continue;
    const cues = lines.map(
      (line, index) => `00:0${index * 3}.000 --> 00:0${index * 3 + 2}.900\n${line}\n`,
    );
    const form = new FormData();
    form.set('language', language);
    form.set('file', new Blob([`WEBVTT\n\n${cues.join('\n')}`]), 'captions.vtt');
    await post(`/v1/content/${item.id}/captions`, form);
  }
}
