/**
 * The types of content items, and the traits by which the service treats them differently. To add a
 * type, start here: the compiler requires its traits.
 */
export const contentTypes = ['video', 'carousel', 'video_carousel', 'live_stream'] as const;

export type ContentType = (typeof contentTypes)[number];

type Traits = {
  /** Whether it has a stream of its own, and thus a quality, a cover and captions. */
  readonly hasOwnStream: boolean;
  /** Whether its length is fixed, so that a position beyond it is an error. */
  readonly hasFixedLength: boolean;
  /** Whether it is announced to viewers who know its id before it can be played. */
  readonly isAnnounced: boolean;
  /** Whether players poll it, because it changes while it is shown. */
  readonly isPolled: boolean;
};

const recorded = { hasFixedLength: true, isAnnounced: false, isPolled: false };

export const contentTraits: Readonly<Record<ContentType, Traits>> = {
  video: { ...recorded, hasOwnStream: true },
  carousel: { ...recorded, hasOwnStream: false },
  video_carousel: { ...recorded, hasOwnStream: false },
  live_stream: { hasOwnStream: true, hasFixedLength: false, isAnnounced: true, isPolled: true },
};
