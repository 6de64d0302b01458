import {
  useCallback,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
  type ReactElement,
  type ReactNode,
  type Ref,
} from 'react';
import {
  AppState,
  FlatList,
  Platform,
  RefreshControl,
  StyleSheet,
  Text,
  View,
  type StyleProp,
  type ViewStyle,
  type ViewToken,
} from 'react-native';
import { type FeedItem } from '@reelfeed/client';
import { Preferences, type Slide } from '@reelfeed/client/playing';
import { useReelfeed } from '../context.ts';
import { type FeedModel, type FeedOptions } from '../feed-model.ts';
import { defaultTexts, type Texts } from '../texts.ts';
import { useFeed, type Feed } from '../use-feed.ts';
import { Button, SlideView } from './slide-view.tsx';

/** Methods available through a `ref` to the feed. */
export type ReelfeedFeedHandle = {
  /** Reloads the feed and starts with its first item, like pull-to-refresh. */
  refresh(): void;
  /** Moves by this many slides, such as 1 to the next one. */
  step(offset: number): void;
};

export type ReelfeedFeedProps = FeedOptions & {
  readonly ref?: Ref<ReelfeedFeedHandle> | undefined;
  readonly style?: StyleProp<ViewStyle>;
  readonly texts?: Partial<Texts> | undefined;
  /** False while another screen of the app is in front: nothing plays. Default: true. */
  readonly isVisible?: boolean | undefined;
  /**
   * Link for the share button; `{id}` is replaced by the item's id. Default: the service's
   * `/feed#<id>`.
   */
  readonly shareUrl?: string | undefined;
  /** Called when another item becomes current. */
  readonly onSlide?: ((item: FeedItem) => void) | undefined;
  /** Rendered above each slide, such as a custom button. */
  readonly renderOverlay?: ((item: FeedItem) => ReactNode) | undefined;
};

/** A clip that can't be played is skipped after this time, unless the viewer acts first. */
const skipBrokenMs = 4_000;
/** A slide becomes current when this share of it is visible. */
const viewability = { itemVisiblePercentThreshold: 60, minimumViewTime: 50 };

/** The feed: one clip per page, moved by swiping. Its container must have a height. */
export function ReelfeedFeed(props: ReelfeedFeedProps): ReactElement {
  const texts = { ...defaultTexts, ...props.texts };
  const feed = useFeed(props);
  const [size, setSize] = useState({ width: 0, height: 0 });
  return (
    <View
      style={[styles.root, props.style]}
      onLayout={({ nativeEvent }) => {
        const { width, height } = nativeEvent.layout;
        setSize({ width, height });
      }}
    >
      {feed.model !== null && size.height > 0 && (
        <Slides {...props} feed={feed} model={feed.model} size={size} texts={texts} />
      )}
      <Notice feed={feed} texts={texts} />
    </View>
  );
}

type SlidesProps = Omit<ReelfeedFeedProps, 'texts'> & {
  readonly feed: Feed;
  readonly model: FeedModel;
  readonly size: { readonly width: number; readonly height: number };
  readonly texts: Texts;
};

function Slides(props: SlidesProps): ReactElement {
  const { feed, model, size, texts, shareUrl, isVisible = true } = props;
  const list = useRef<FlatList<Slide>>(null);
  const [index, setIndex] = useShown(props);
  const isAway = !useIsInFront() || !isVisible;
  const [isMuted, toggleMute] = useMuted();
  // Other clips load nothing before the current one plays.
  const [startedId, setStartedId] = useState<string | null>(null);
  const watchedId = feed.slides[index]?.id ?? null;
  const mayPrepare = startedId === watchedId || feed.slides[index]?.media.kind === 'pictures';
  useEffect(() => model.setActive(!isAway), [model, isAway]);

  const skipTimer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(skipTimer.current), [watchedId]);

  const goTo = (target: number): void => {
    if (target < 0 || target >= feed.slides.length) return;
    list.current?.scrollToIndex({ index: target, animated: Platform.OS !== 'web' });
  };
  const refresh = (): void => {
    list.current?.scrollToOffset({ offset: 0, animated: false });
    setIndex(0);
    void model.refresh();
  };
  useImperativeHandle(props.ref, () => ({ refresh, step: (offset) => goTo(index + offset) }));

  const onViewable = useRef(({ viewableItems }: { viewableItems: ViewToken[] }) => {
    const [first] = viewableItems;
    if (first?.index != null) setIndex(first.index);
  });
  const placeOf = (at: number): 'watched' | 'near' | 'far' => {
    if (at === index) return 'watched';
    return at === index - 1 || (at === index + 1 && mayPrepare) ? 'near' : 'far';
  };
  return (
    <FlatList
      ref={list}
      style={styles.list}
      accessibilityLabel={texts.feed}
      data={feed.slides}
      extraData={[feed, index, isAway, isMuted, mayPrepare, size]}
      keyExtractor={({ id }) => id}
      getItemLayout={(_data, at) => ({ length: size.height, offset: size.height * at, index: at })}
      pagingEnabled
      showsVerticalScrollIndicator={false}
      initialNumToRender={1}
      maxToRenderPerBatch={2}
      windowSize={5}
      viewabilityConfig={viewability}
      onViewableItemsChanged={onViewable.current}
      refreshControl={<RefreshControl refreshing={feed.isRefreshing} onRefresh={refresh} />}
      renderItem={({ item: slide, index: at }) => (
        <SlideView
          slide={slide}
          model={model}
          size={size}
          place={placeOf(at)}
          isAway={isAway}
          isMuted={isMuted}
          texts={texts}
          shareUrl={shareUrl}
          overlay={props.renderOverlay?.(slide.item)}
          onMute={toggleMute}
          onStart={() => setStartedId(slide.id)}
          onBroken={() => {
            clearTimeout(skipTimer.current);
            // While offline, the next clip would not play either.
            if (feed.phase === 'waiting') return;
            skipTimer.current = setTimeout(() => goTo(at + 1), skipBrokenMs);
          }}
        />
      )}
    />
  );
}

/** The index of the current slide, which is reported to the model. */
function useShown({ feed, model, onSlide }: SlidesProps): [number, (index: number) => void] {
  const [wanted, setIndex] = useState(0);
  const index = Math.min(wanted, Math.max(0, feed.slides.length - 1));
  const slide = feed.slides[index];
  useEffect(() => {
    if (slide === undefined) return;
    model.show(index);
    onSlide?.(slide.item);
  }, [model, index, slide?.id]);
  return [index, setIndex];
}

/** Whether the app is in the foreground. */
function useIsInFront(): boolean {
  const [isInFront, setIsInFront] = useState(AppState.currentState !== 'background');
  useEffect(() => {
    const changed = (state: string): void => setIsInFront(state === 'active');
    const subscription = AppState.addEventListener('change', changed);
    return () => subscription.remove();
  }, []);
  return isInFront;
}

/** Whether clips are muted. Browsers don't autoplay with sound, so playback starts muted there. */
function useMuted(): [boolean, () => void] {
  const { connection } = useReelfeed();
  const [isMuted, setIsMuted] = useState(() => {
    const kept = connection?.store.read('sound') ?? null;
    return kept === null ? Platform.OS === 'web' : kept === 'off';
  });
  const toggle = useCallback(() => {
    setIsMuted(!isMuted);
    if (connection !== null) new Preferences(connection.store).hasSound = isMuted;
  }, [connection, isMuted]);
  return [isMuted, toggle];
}

/** The message for an empty feed, or for one that can't continue. */
function Notice({
  feed,
  texts,
}: {
  readonly feed: Feed;
  readonly texts: Texts;
}): ReactElement | null {
  const { slides, phase, error, model, isRefreshing } = feed;
  if (phase === 'waiting') return <Text style={styles.notice}>{texts.reconnecting}</Text>;
  if (slides.length > 0 && phase !== 'refused') return null;
  if (phase === 'loading' || isRefreshing) {
    return (
      <View style={styles.middle} pointerEvents="none">
        <Text style={styles.text}>{texts.loading}</Text>
      </View>
    );
  }
  const isRefused = phase === 'refused';
  return (
    <View style={slides.length > 0 ? styles.notice : styles.middle} pointerEvents="box-none">
      <Text style={styles.text}>{isRefused ? texts.refused : texts.empty}</Text>
      {isRefused && <Text style={styles.detail}>{error?.message}</Text>}
      <Button
        label={texts.retry}
        sign={texts.retry}
        onPress={() => void (isRefused ? model?.retry() : model?.refresh())}
      />
    </View>
  );
}

const styles = StyleSheet.create({
  root: { flex: 1, backgroundColor: '#000', overflow: 'hidden' },
  list: { flex: 1 },
  middle: {
    position: 'absolute',
    top: 0,
    right: 0,
    bottom: 0,
    left: 0,
    alignItems: 'center',
    justifyContent: 'center',
    gap: 12,
    padding: 24,
  },
  notice: {
    position: 'absolute',
    top: 48,
    left: 16,
    right: 16,
    padding: 8,
    borderRadius: 8,
    overflow: 'hidden',
    textAlign: 'center',
    color: '#fff',
    backgroundColor: 'rgba(0, 0, 0, 0.65)',
  },
  text: { color: '#fff', fontSize: 18, textAlign: 'center' },
  detail: { color: 'rgba(255, 255, 255, 0.8)', fontSize: 14, textAlign: 'center' },
});
