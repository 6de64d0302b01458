/** What the components of all frameworks have in common. */
import { type ArticleCard, type ReelfeedEvent, type ReelfeedItem, type ReelfeedPermission } from './types.js';
import { type Texts } from './texts.js';
export type ElementName = 'reelfeed-feed' | 'reelfeed-player' | 'reelfeed-shelf';
export type CommonProps = {
    /** Where the service answers, such as `https://video.example.com`. */
    readonly src: string;
    /** `rf_pk_…`; never a secret key. */
    readonly publishableKey: string;
    readonly userId?: string | undefined;
    /** Your server's signature of `userId`. */
    readonly userSignature?: string | undefined;
    readonly tags?: readonly string[] | undefined;
    readonly section?: string | undefined;
    /** What the share button copies, with `{id}` in the place of the item's id. */
    readonly shareUrl?: string | undefined;
    readonly axis?: 'vertical' | 'horizontal' | undefined;
    readonly texts?: Partial<Texts> | undefined;
    readonly getToken?: ((item: {
        readonly id: string;
    }) => Promise<ReelfeedPermission>) | undefined;
    readonly articleCard?: ((item: ReelfeedItem) => ArticleCard | null) | undefined;
    /** Each engagement event as it happens. */
    readonly onEvent?: ((event: ReelfeedEvent) => void) | undefined;
    /** Another item is before the viewer. */
    readonly onSlide?: ((item: ReelfeedItem) => void) | undefined;
    /** A clip could not be shown or played, or a shelf could not be filled. */
    readonly onError?: ((error: ErrorEvent) => void) | undefined;
};
/** Defines the element in the browser; a server that renders pages loads nothing. */
export declare function load(name: ElementName): Promise<void>;
/** What a component was given. */
export type Given = Partial<CommonProps> & {
    readonly start?: string | undefined;
    readonly contentId?: string | undefined;
    readonly count?: number | undefined;
};
/** The attributes of an element; those that were not given are undefined, which removes them. */
export declare function attributesOf(given: Given): Record<string, string | undefined>;
