import { type Texts } from './texts.js';
/** An engagement event as sent to the service; see the page on events. */
export interface ReelfeedEvent {
    readonly event: string;
    readonly contentId: string;
    readonly data?: Readonly<Record<string, unknown>>;
}
/** Addresses of a protected item: the `data` of a playback token. */
export interface ReelfeedPermission {
    readonly streamingUrl: string | null;
    readonly thumbnailUrl?: string | null;
    /** An animated preview for a clip that waits for a tap. */
    readonly previewUrl?: string | null;
    /** Preview pictures for seeking. */
    readonly storyboardUrl?: string | null;
    /** ISO 8601. Without it, permission is requested on each load. */
    readonly expiresAt?: string;
}
/** The fields of a feed item that pages need; `GET /v1/feed` describes all of them. */
export interface ReelfeedItem {
    readonly id: string;
    readonly contentType: string;
    readonly title: string;
    readonly author: string | null;
    readonly tags: readonly string[];
    readonly articleUrl: string | null;
    readonly customMetadata: Readonly<Record<string, unknown>>;
}
/** A card that links to the article of an item. */
export interface ArticleCard {
    readonly title: string;
    /** Default: the host of the article. */
    readonly text?: string;
    readonly imageUrl?: string;
}
/** Properties of `<reelfeed-feed>`. Its attributes are in the guide. */
export interface ReelfeedFeedElement extends HTMLElement {
    /** Texts that replace those of the player. */
    texts: Partial<Texts>;
    /**
     * Provides the permission to watch a protected item, or throws. Null (the default) asks the
     * service with the publishable key.
     */
    getToken: ((item: {
        readonly id: string;
    }) => Promise<ReelfeedPermission>) | null;
    /** Creates the card below the text of an item that has an `articleUrl`; null shows a button. */
    articleCard: ((item: ReelfeedItem) => ArticleCard | null) | null;
}
/** Properties of `<reelfeed-player>`, which plays one item. */
export interface ReelfeedPlayerElement extends ReelfeedFeedElement {
}
/**
 * Properties of `<reelfeed-shelf>`, which shows a row of clips; they also apply to the feed that it
 * opens.
 */
export interface ReelfeedShelfElement extends ReelfeedFeedElement {
    /** Opens the feed at a clip, or at its beginning. */
    open(contentId?: string): void;
    /** Closes the feed. */
    close(): void;
}
declare global {
    interface HTMLElementTagNameMap {
        'reelfeed-feed': ReelfeedFeedElement;
        'reelfeed-player': ReelfeedPlayerElement;
        'reelfeed-shelf': ReelfeedShelfElement;
    }
    interface HTMLElementEventMap {
        /** Bubbles; `detail` is each engagement event as it happens. */
        'reelfeed-event': CustomEvent<ReelfeedEvent>;
        /** Bubbles when another item becomes active. */
        'reelfeed-slide': CustomEvent<ReelfeedItem>;
    }
}
