/** The types of items, with their names. */
import type { Item } from '../../data.ts';
import { t } from '../../texts/texts.ts';

export const typeNames: Record<Item['contentType'], string> = {
  video: t('Video'),
  carousel: t('Images'),
  video_carousel: t('Row of videos'),
  live_stream: t('Live'),
};

export const contentTypes = Object.keys(typeNames);
