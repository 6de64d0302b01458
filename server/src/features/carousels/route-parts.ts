import type { Db } from '../../platform/database/database.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { MediaUrls } from '../content/content.ts';
import type { ImageParts } from '../images/images.ts';

export type CarouselRouteParts = ImageParts & {
  db: Db;
  mutations: Mutations;
  urls: MediaUrls;
  /** Called after a change is committed. */
  onChange: () => void;
};

export const carouselTags = ['Carousels'];
export const carouselConfig = { access: 'secret' as const };
