import { type Texts } from './texts.js';
/** An engagement event, as it is sent to the service; see the page on events. */
export interface ReelfeedEvent {
    readonly event: string;
    readonly contentId: string;
    readonly data?: Readonly<Record<string, unknown>>;
}
/** Addresses at which a protected item can be watched: the `data` of a playback token. */
export interface ReelfeedPermission {
    readonly streamingUrl: string | null;
    readonly thumbnailUrl?: string | null;
    /** Moving pictures for a clip that waits for a tap. */
    readonly previewUrl?: string | null;
    /** Pictures to look for a moment by. */
    readonly storyboardUrl?: string | null;
    /** ISO 8601. Without it the permission is requested at each load. */
    readonly expiresAt?: string;
}
/** An item of the feed, as far as pages need it; `GET /v1/feed` describes all of it. */
export interface ReelfeedItem {
    readonly id: string;
    readonly contentType: string;
    readonly title: string;
    readonly author: string | null;
    readonly tags: readonly string[];
    readonly articleUrl: string | null;
    readonly customMetadata: Readonly<Record<string, unknown>>;
}
/** A card that leads to the article of an item. */
export interface ArticleCard {
    readonly title: string;
    /** Left out: the host of the article. */
    readonly text?: string;
    readonly imageUrl?: string;
}
/** Properties of `<reelfeed-feed>`. Its attributes are in the guide. */
export interface ReelfeedFeedElement extends HTMLElement {
    /** Words that replace those of the player. */
    texts: Partial<Texts>;
    /**
     * Permits watching a protected item, or throws. Null, the default, asks the service with the
     * publishable key.
     */
    getToken: ((item: {
        readonly id: string;
    }) => Promise<ReelfeedPermission>) | null;
    /** Makes the card under the words of an item that has an `articleUrl`; null shows the button. */
    articleCard: ((item: ReelfeedItem) => ArticleCard | null) | null;
}
/** Properties of `<reelfeed-player>`, which plays one item. */
export interface ReelfeedPlayerElement extends ReelfeedFeedElement {
}
/** Properties of `<reelfeed-shelf>`, which shows a row of clips; the feed that it opens has them, too. */
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
        /** Bubbles; another item is before the viewer. */
        'reelfeed-slide': CustomEvent<ReelfeedItem>;
    }
}
