/** Shared parts of the components for all frameworks. */
import { type ArticleCard, type ReelfeedEvent, type ReelfeedItem, type ReelfeedPermission } from './types.js';
import { type Texts } from './texts.js';
export type ElementName = 'reelfeed-feed' | 'reelfeed-player' | 'reelfeed-shelf';
export type CommonProps = {
    /** The base URL of the service, such as `https://video.example.com`. */
    readonly src: string;
    /** `rf_pk_…`; never a secret key. */
    readonly publishableKey: string;
    readonly userId?: string | undefined;
    /** Your server's signature of `userId`. */
    readonly userSignature?: string | undefined;
    readonly tags?: readonly string[] | undefined;
    readonly section?: string | undefined;
    /** The address that the share button copies, with `{id}` in place of the item's id. */
    readonly shareUrl?: string | undefined;
    readonly axis?: 'vertical' | 'horizontal' | undefined;
    readonly texts?: Partial<Texts> | undefined;
    readonly getToken?: ((item: {
        readonly id: string;
    }) => Promise<ReelfeedPermission>) | undefined;
    readonly articleCard?: ((item: ReelfeedItem) => ArticleCard | null) | undefined;
    /** Called for each engagement event as it happens. */
    readonly onEvent?: ((event: ReelfeedEvent) => void) | undefined;
    /** Called when another item becomes active. */
    readonly onSlide?: ((item: ReelfeedItem) => void) | undefined;
    /** Called if a clip could not be shown or played, or a shelf could not be filled. */
    readonly onError?: ((error: ErrorEvent) => void) | undefined;
};
/** Defines the element in the browser; loads nothing during server-side rendering. */
export declare function load(name: ElementName): Promise<void>;
/** The props given to a component. */
export type Given = Partial<CommonProps> & {
    readonly start?: string | undefined;
    readonly contentId?: string | undefined;
    readonly count?: number | undefined;
};
/** The attributes of an element. Missing ones are undefined, which removes them. */
export declare function attributesOf(given: Given): Record<string, string | undefined>;
