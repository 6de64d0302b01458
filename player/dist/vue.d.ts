/** The elements as Vue components: `import { ReelfeedFeed } from '@reelfeed/player/vue'`. */
import { type PropType } from 'vue';
import { type CommonProps } from './framework.js';
import { type ReelfeedEvent, type ReelfeedItem } from './types.js';
export declare const ReelfeedFeed: import("vue").DefineComponent<import("vue").ExtractPropTypes<{
    src: {
        type: PropType<string>;
        required: true;
    };
    publishableKey: {
        type: PropType<string>;
        required: true;
    };
    userId: PropType<string>;
    userSignature: PropType<string>;
    tags: PropType<readonly string[]>;
    section: PropType<string>;
    shareUrl: PropType<string>;
    axis: PropType<'vertical' | 'horizontal'>;
    texts: PropType<NonNullable<CommonProps['texts']>>;
    getToken: PropType<NonNullable<CommonProps['getToken']>>;
    articleCard: PropType<NonNullable<CommonProps['articleCard']>>;
    start: PropType<string>;
}>, () => import("vue").VNode<import("vue").RendererNode, import("vue").RendererElement, {
    [key: string]: any;
}>, {}, {}, {}, import("vue").ComponentOptionsMixin, import("vue").ComponentOptionsMixin, {
    event: (_event: ReelfeedEvent) => boolean;
    slide: (_item: ReelfeedItem) => boolean;
    error: (_error: ErrorEvent) => boolean;
}, string, import("vue").PublicProps, Readonly<import("vue").ExtractPropTypes<{
    src: {
        type: PropType<string>;
        required: true;
    };
    publishableKey: {
        type: PropType<string>;
        required: true;
    };
    userId: PropType<string>;
    userSignature: PropType<string>;
    tags: PropType<readonly string[]>;
    section: PropType<string>;
    shareUrl: PropType<string>;
    axis: PropType<'vertical' | 'horizontal'>;
    texts: PropType<NonNullable<CommonProps['texts']>>;
    getToken: PropType<NonNullable<CommonProps['getToken']>>;
    articleCard: PropType<NonNullable<CommonProps['articleCard']>>;
    start: PropType<string>;
}>> & Readonly<{
    onError?: (_error: ErrorEvent) => any;
    onEvent?: (_event: ReelfeedEvent) => any;
    onSlide?: (_item: ReelfeedItem) => any;
}>, {}, {}, {}, {}, string, import("vue").ComponentProvideOptions, true, {}, any>;
export declare const ReelfeedPlayer: import("vue").DefineComponent<import("vue").ExtractPropTypes<{
    src: {
        type: PropType<string>;
        required: true;
    };
    publishableKey: {
        type: PropType<string>;
        required: true;
    };
    userId: PropType<string>;
    userSignature: PropType<string>;
    tags: PropType<readonly string[]>;
    section: PropType<string>;
    shareUrl: PropType<string>;
    axis: PropType<'vertical' | 'horizontal'>;
    texts: PropType<NonNullable<CommonProps['texts']>>;
    getToken: PropType<NonNullable<CommonProps['getToken']>>;
    articleCard: PropType<NonNullable<CommonProps['articleCard']>>;
    contentId: {
        type: PropType<string>;
        required: true;
    };
}>, () => import("vue").VNode<import("vue").RendererNode, import("vue").RendererElement, {
    [key: string]: any;
}>, {}, {}, {}, import("vue").ComponentOptionsMixin, import("vue").ComponentOptionsMixin, {
    event: (_event: ReelfeedEvent) => boolean;
    slide: (_item: ReelfeedItem) => boolean;
    error: (_error: ErrorEvent) => boolean;
}, string, import("vue").PublicProps, Readonly<import("vue").ExtractPropTypes<{
    src: {
        type: PropType<string>;
        required: true;
    };
    publishableKey: {
        type: PropType<string>;
        required: true;
    };
    userId: PropType<string>;
    userSignature: PropType<string>;
    tags: PropType<readonly string[]>;
    section: PropType<string>;
    shareUrl: PropType<string>;
    axis: PropType<'vertical' | 'horizontal'>;
    texts: PropType<NonNullable<CommonProps['texts']>>;
    getToken: PropType<NonNullable<CommonProps['getToken']>>;
    articleCard: PropType<NonNullable<CommonProps['articleCard']>>;
    contentId: {
        type: PropType<string>;
        required: true;
    };
}>> & Readonly<{
    onError?: (_error: ErrorEvent) => any;
    onEvent?: (_event: ReelfeedEvent) => any;
    onSlide?: (_item: ReelfeedItem) => any;
}>, {}, {}, {}, {}, string, import("vue").ComponentProvideOptions, true, {}, any>;
export declare const ReelfeedShelf: import("vue").DefineComponent<import("vue").ExtractPropTypes<{
    src: {
        type: PropType<string>;
        required: true;
    };
    publishableKey: {
        type: PropType<string>;
        required: true;
    };
    userId: PropType<string>;
    userSignature: PropType<string>;
    tags: PropType<readonly string[]>;
    section: PropType<string>;
    shareUrl: PropType<string>;
    axis: PropType<'vertical' | 'horizontal'>;
    texts: PropType<NonNullable<CommonProps['texts']>>;
    getToken: PropType<NonNullable<CommonProps['getToken']>>;
    articleCard: PropType<NonNullable<CommonProps['articleCard']>>;
    count: NumberConstructor;
}>, () => import("vue").VNode<import("vue").RendererNode, import("vue").RendererElement, {
    [key: string]: any;
}>, {}, {}, {}, import("vue").ComponentOptionsMixin, import("vue").ComponentOptionsMixin, {
    event: (_event: ReelfeedEvent) => boolean;
    slide: (_item: ReelfeedItem) => boolean;
    error: (_error: ErrorEvent) => boolean;
}, string, import("vue").PublicProps, Readonly<import("vue").ExtractPropTypes<{
    src: {
        type: PropType<string>;
        required: true;
    };
    publishableKey: {
        type: PropType<string>;
        required: true;
    };
    userId: PropType<string>;
    userSignature: PropType<string>;
    tags: PropType<readonly string[]>;
    section: PropType<string>;
    shareUrl: PropType<string>;
    axis: PropType<'vertical' | 'horizontal'>;
    texts: PropType<NonNullable<CommonProps['texts']>>;
    getToken: PropType<NonNullable<CommonProps['getToken']>>;
    articleCard: PropType<NonNullable<CommonProps['articleCard']>>;
    count: NumberConstructor;
}>> & Readonly<{
    onError?: (_error: ErrorEvent) => any;
    onEvent?: (_event: ReelfeedEvent) => any;
    onSlide?: (_item: ReelfeedItem) => any;
}>, {}, {}, {}, {}, string, import("vue").ComponentProvideOptions, true, {}, any>;
