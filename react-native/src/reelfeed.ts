/** A feed of short videos for React Native: `<ReelfeedProvider>` and `<ReelfeedFeed>`. */
export { type AppStorage } from './app-storage.ts';
export { useReelfeedEvents, type ReelfeedEvents } from './context.ts';
export { sampleOf, type ReadablePlayer } from './clip-sample.ts';
export {
  type FeedModel,
  type FeedOptions,
  type FeedState,
  type MediaAddresses,
} from './feed-model.ts';
export { defaultTexts, type Texts } from './texts.ts';
export { useFeed, type Feed } from './use-feed.ts';
export {
  ReelfeedFeed,
  type ReelfeedFeedHandle,
  type ReelfeedFeedProps,
} from './components/feed.tsx';
export { ReelfeedProvider, type ReelfeedProviderProps } from './components/provider.tsx';
