import { type CaptionTrack, type CarouselImage } from '@reelfeed/client';

/** The addresses of a protected item, taken from a playback token. */
export type Permission = {
  readonly streamingUrl: string | null;
  readonly thumbnailUrl?: string | null;
  readonly thumbnails?: readonly {
    readonly url: string;
    readonly type: string;
    readonly width: number;
  }[];
  readonly previewUrl?: string | null;
  readonly storyboardUrl?: string | null;
  readonly images?: readonly CarouselImage[];
  readonly captionTracks?: readonly CaptionTrack[];
  /** ISO 8601. Without it, permission is requested on each load. */
  readonly expiresAt?: string;
};

export type GetToken = (item: { readonly id: string }) => Promise<Permission>;

const keptPermissions = 50;
/** A permission that expires sooner than this is not used to start playback. */
const leastRestMs = 60_000;

/** Requests permission once for all parts of a slide, and again after it has expired. */
export class Permissions {
  readonly #ask: GetToken;
  readonly #kept = new Map<string, Promise<Permission>>();

  constructor(ask: GetToken) {
    this.#ask = ask;
  }

  async of(item: { readonly id: string }): Promise<Permission> {
    const kept = await this.#kept.get(item.id)?.catch(() => undefined);
    const endsAtMs = Date.parse(kept?.expiresAt ?? '');
    if (kept !== undefined && endsAtMs > Date.now() + leastRestMs) return kept;
    const asked = this.#ask(item);
    this.#kept.set(item.id, asked);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > keptPermissions && oldest !== undefined) this.#kept.delete(oldest);
    return asked;
  }
}
