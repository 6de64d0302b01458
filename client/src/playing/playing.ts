/**
 * The building blocks of feed players, independent of rendering: the list of slides, the meter of
 * watch time, the events of a view, and the stored state of a viewer. The elements of
 * `@reelfeed/player` and the components of `@reelfeed/react-native` share them; a custom player can
 * use them, too.
 */
export { FeedList, type FeedPhase, type ReadPage } from './feed-list.ts';
export { Marks } from './marks.ts';
export { Preferences } from './preferences.ts';
export { slidesOf, webAddress, type OnBroken, type Slide } from './slides.ts';
export { type Store } from './store.ts';
export { newUuid7 } from '../uuid7.ts';
export { ViewMeter, type Sample } from './view-meter.ts';
export { Viewing, type Arrival, type PlaybackFailure } from './viewing.ts';
