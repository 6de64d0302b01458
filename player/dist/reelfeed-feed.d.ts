import { type Texts } from './texts.ts';
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
}
declare global {
    interface HTMLElementTagNameMap {
        'reelfeed-feed': ReelfeedFeedElement;
    }
    interface HTMLElementEventMap {
        /** Bubbles; `detail` is each engagement event as it happens. */
        'reelfeed-event': CustomEvent<ReelfeedEvent>;
    }
}
