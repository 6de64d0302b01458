/** The type of a feed item, which determines the media fields that are set. */
export type ContentType = 'video' | 'carousel' | 'video_carousel' | 'live_stream';

export type LiveStreamStatus = 'idle' | 'active' | 'ended';

export type CaptionTrack = {
  readonly id: string;
  /** ISO 639-1 code such as `en`. */
  readonly language: string;
  readonly label: string;
  readonly source: 'generated' | 'uploaded';
  /** Address of a WebVTT file. */
  readonly url: string;
  readonly trackId: string;
  readonly status: 'preparing' | 'ready';
  readonly createdAt: string;
};

export type CarouselImage = {
  readonly id: string;
  readonly imageUrl: string;
  readonly altText: string | null;
  /** Display order, starting at 0. */
  readonly position: number;
  readonly createdAt: string;
};

export type Engagement = {
  readonly views: number;
  readonly likes: number;
  readonly shares: number;
  readonly saves: number;
};

/** Why an item has its position. Only sent for secret keys that request `explain`. */
export type RankingExplanation = {
  readonly score: number;
  readonly signals: Readonly<Record<string, number>>;
  /** With the objective `weights`, score = Σ weight·signal / Σ weight. */
  readonly weights: Readonly<Record<string, number>>;
  /** The contribution of each signal and of other factors; they sum to the score. */
  readonly contributions?: Readonly<Record<string, number>>;
  readonly reasons: readonly string[];
};

/** One entry of the feed. Times are ISO 8601 in UTC, lengths are in seconds, sizes in pixels. */
export type FeedItem = {
  readonly id: string;
  readonly contentType: ContentType;
  readonly title: string;
  readonly description: string | null;
  readonly uploadStatus: 'pending' | 'processing' | 'ready' | 'error';
  readonly publishStatus: 'published' | 'unpublished';
  readonly visibility: 'public' | 'unlisted' | 'private';
  /** HLS master playlist. Null for carousels; empty while a protected item has no signed URL. */
  readonly streamingUrl: string | null;
  readonly section: string | null;
  readonly author: string | null;
  readonly tags: readonly string[];
  readonly publishAt: string | null;
  readonly expiresAt: string | null;
  readonly duration: number | null;
  readonly protected: boolean;
  readonly thumbnailUrl: string | null;
  /** ThumbHash in base64: a placeholder until a thumbnail has loaded. */
  readonly thumbnailHash: string | null;
  /** The chosen time of the thumbnail in seconds, or null if none was chosen. */
  readonly thumbnailTime: number | null;
  /** The thumbnail in two sizes, each as JPEG and WebP, largest first. */
  readonly thumbnails: readonly {
    readonly url: string;
    readonly type: 'image/jpeg' | 'image/webp';
    readonly width: number;
    readonly height: number;
  }[];
  /** Three seconds as animated WebP. */
  readonly previewUrl: string | null;
  /** WebVTT whose cues refer to parts of one picture by `#xywh`. */
  readonly storyboardUrl: string | null;
  /** A single MP4 that plays while it loads. */
  readonly downloadUrl: string | null;
  readonly customMetadata: Readonly<Record<string, unknown>>;
  readonly captionTracks: readonly CaptionTrack[];
  readonly images: readonly CarouselImage[];
  readonly width: number | null;
  readonly height: number | null;
  /** A reduced ratio such as `9:16`. */
  readonly aspectRatio: string | null;
  readonly maxFrameRate: number | null;
  readonly videoQuality: 'basic' | 'plus' | null;
  readonly resolutionTier: 'audio-only' | 'SD' | 'HD' | 'FHD' | 'UHD' | null;
  /** Seconds between the pictures of an image carousel, or null if only the viewer moves it. */
  readonly autoScrollInterval: number | null;
  readonly articleUrl: string | null;
  readonly externalId: string | null;
  readonly errorReason: { readonly code: string; readonly message: string } | null;
  /** Processing progress, 0 to 1. */
  readonly progress: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly isLive: boolean;
  readonly liveStreamId: string | null;
  readonly liveStreamStatus: LiveStreamStatus | null;
  readonly currentViewers: number;
  readonly engagement: Engagement;
  /** The members of a video carousel, in order. */
  readonly videos?: readonly FeedItem[];
  readonly ranking?: RankingExplanation | null;
};

/** The variant of an experiment that shaped this page for this viewer. */
export type ExperimentAssignment = {
  readonly experimentId: string;
  readonly variantId: string;
};

export type FeedPage = {
  readonly items: readonly FeedItem[];
  /** Pass this back to read the next page; null on the last one. */
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
  /** Identifies the order that was fixed by page 1. Impressions send it back. */
  readonly feedId: string | null;
  /** True if there is currently nothing more for this viewer. */
  readonly exhausted: boolean;
  readonly experiments: readonly ExperimentAssignment[];
  readonly requestId: string | null;
};

export type FeedQuery = {
  /** Items per page, 1 to 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | null | undefined;
  readonly sessionId?: string | undefined;
  /** ISO 3166-1 alpha-2, such as `DE`. */
  readonly country?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly section?: string | undefined;
  readonly author?: string | undefined;
  readonly contentType?: ContentType | undefined;
  readonly excludeIds?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
};
