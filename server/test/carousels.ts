/** Carousels and images for tests. */
import sharp from 'sharp';
import { form } from './media.ts';
import { createReadyItems } from './seed.ts';
import type { TestService } from './service.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
type Data = any;

export async function createCarousel(
  service: TestService,
  contentType: 'carousel' | 'video_carousel',
  fields: object = {},
): Promise<Data> {
  const { status, body, text } = await service.call('POST', '/v1/content', {
    body: { contentType, title: 'A carousel', ...fields },
  });
  if (status !== 201) throw new Error(`the carousel was refused: ${status} ${text}`);
  return body.data;
}

export type ImageOptions = {
  format?: 'jpeg' | 'png' | 'webp' | 'avif';
  width?: number;
  height?: number;
  color?: string;
};

/** A single-colored image. */
export async function imageBytes({
  format = 'png',
  width = 64,
  height = 48,
  color = '#d03030',
}: ImageOptions = {}): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background: color } })
    .toFormat(format)
    .toBuffer();
}

export async function addImage(
  service: TestService,
  id: string,
  { altText, ...options }: ImageOptions & { altText?: string } = {},
): Promise<Data> {
  const fields: [string, string | Buffer][] = [['file', await imageBytes(options)]];
  if (altText !== undefined) fields.push(['altText', altText]);
  const { status, body, text } = await service.call('POST', `/v1/content/${id}/images`, {
    body: form(fields),
  });
  if (status !== 201) throw new Error(`the image was refused: ${status} ${text}`);
  return body.data;
}

export type Entry = { id: string; contentId: string; position: number };

/** Creates a video carousel with ready videos. Returns its id and entries. */
export async function createVideoCarousel(
  service: TestService,
  count = 3,
  fields: object = {},
): Promise<[id: string, entries: Entry[]]> {
  const { id } = await createCarousel(service, 'video_carousel', fields);
  const contentIds = await createReadyItems(service, count);
  const { status, body, text } = await service.call('POST', `/v1/content/${id}/videos`, {
    body: { contentIds },
  });
  if (status !== 201) throw new Error(`the videos were refused: ${status} ${text}`);
  return [id, body.data];
}
