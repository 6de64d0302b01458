/**
 * What players of a feed are made of, whatever they draw with: the list of slides, the meter of watch
 * time, the events of a view, and what is remembered of a viewer. The elements of `@reelfeed/player` and
 * the components of `@reelfeed/react-native` share them; a player of your own can use them, too.
 */
export { FeedList, type FeedPhase, type ReadPage } from './feed-list.ts';
export { Marks } from './marks.ts';
export { Preferences } from './preferences.ts';
export { slidesOf, webAddress, type OnBroken, type Slide } from './slides.ts';
export { type Store } from './store.ts';
export { newUuid7 } from '../uuid7.ts';
export { ViewMeter, type Sample } from './view-meter.ts';
export { Viewing, type Arrival, type PlaybackFailure } from './viewing.ts';
