/** The elements as React components: `import { ReelfeedFeed } from '@reelfeed/player/react'`. */
import { type CSSProperties, type ForwardRefExoticComponent, type ReactNode, type RefAttributes } from 'react';
import { type CommonProps } from './framework.js';
import { type ReelfeedFeedElement, type ReelfeedPlayerElement, type ReelfeedShelfElement } from './types.js';
type Shared = CommonProps & {
    readonly className?: string | undefined;
    readonly style?: CSSProperties | undefined;
    /** Shown above the clips and positioned by its own styles. */
    readonly children?: ReactNode;
};
export type ReelfeedFeedProps = Shared & {
    readonly start?: string | undefined;
};
export type ReelfeedPlayerProps = Shared & {
    readonly contentId: string;
};
export type ReelfeedShelfProps = Shared & {
    readonly count?: number | undefined;
};
type Component<Props, Element> = ForwardRefExoticComponent<Props & RefAttributes<Element>>;
export declare const ReelfeedFeed: Component<ReelfeedFeedProps, ReelfeedFeedElement>;
export declare const ReelfeedPlayer: Component<ReelfeedPlayerProps, ReelfeedPlayerElement>;
export declare const ReelfeedShelf: Component<ReelfeedShelfProps, ReelfeedShelfElement>;
export {};
