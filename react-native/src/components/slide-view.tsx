import { useEffect, useState, type ReactElement, type ReactNode } from 'react';
import { Pressable, Share, StyleSheet, Text, View } from 'react-native';
import { type PlaybackFailure, type Slide } from '@reelfeed/client/playing';
import { type FeedModel } from '../feed-model.ts';
import { type Texts } from '../texts.ts';
import { Clip, Poster } from './clip.tsx';
import { Pictures } from './pictures.tsx';

export type SlideViewProps = {
  readonly slide: Slide;
  readonly model: FeedModel;
  readonly size: { readonly width: number; readonly height: number };
  /** The current slide, close enough to load, or neither. */
  readonly place: 'watched' | 'near' | 'far';
  /** The app is in the background, or the feed is not visible. */
  readonly isAway: boolean;
  readonly isMuted: boolean;
  readonly texts: Texts;
  readonly shareUrl: string | undefined;
  readonly overlay: ReactNode;
  readonly onMute: () => void;
  readonly onStart: () => void;
  /** Called if the current clip can't be played. */
  readonly onBroken: () => void;
};

/** One slide of the feed: the clip or images, a description, and actions. */
export function SlideView(props: SlideViewProps): ReactElement {
  const { slide, model, size, place, isAway, isMuted, texts, overlay, onStart, onBroken } = props;
  const [isPaused, setIsPaused] = useState(false);
  const [failure, setFailure] = useState<PlaybackFailure | null>(null);
  const [attempt, setAttempt] = useState(0);
  const isWatched = place === 'watched';
  const onFail = (found: PlaybackFailure): void => {
    setFailure(found);
    if (!isWatched) return;
    model.fail(slide, found);
    onBroken();
  };
  // A clip that failed to preload is retried when it becomes current.
  useEffect(() => {
    if (isWatched) setFailure(null);
  }, [isWatched]);
  const retry = (): void => {
    setFailure(null);
    setAttempt(attempt + 1);
  };
  const shared = { slide, model, isWatched: isWatched && !isAway, onFail };
  return (
    <View style={[styles.slide, size]} testID={`slide-${slide.id}`} aria-hidden={!isWatched}>
      {slide.media.kind === 'pictures' ? (
        <Pictures {...shared} pictures={slide.media.pictures} width={size.width} texts={texts} />
      ) : (
        <Pressable
          style={styles.fill}
          accessibilityRole="button"
          accessibilityLabel={isPaused ? texts.play : texts.pause}
          onPress={() => setIsPaused(!isPaused)}
        >
          {place === 'far' || failure !== null ? (
            <Poster slide={slide} />
          ) : (
            <Clip
              key={attempt}
              {...shared}
              isPaused={isPaused}
              isMuted={isMuted}
              onStart={onStart}
            />
          )}
        </Pressable>
      )}
      {failure !== null && (
        <View style={styles.problem}>
          <Text style={styles.title}>
            {slide.item.protected ? texts.lockedClip : texts.brokenClip}
          </Text>
          <Button label={texts.retry} sign={texts.retry} onPress={retry} />
        </View>
      )}
      <About slide={slide} texts={texts} />
      <Actions {...props} />
      {overlay}
    </View>
  );
}

function About({ slide, texts }: { readonly slide: Slide; readonly texts: Texts }): ReactElement {
  const { title, author, description, isLive } = slide.item;
  return (
    <View style={styles.about} pointerEvents="none">
      {isLive && <Text style={styles.live}>{texts.live}</Text>}
      {author !== null && author !== '' && <Text style={styles.author}>{author}</Text>}
      <Text style={styles.title} accessibilityRole="header">
        {title}
      </Text>
      {description !== null && (
        <Text style={styles.description} numberOfLines={2}>
          {description}
        </Text>
      )}
    </View>
  );
}

function Actions(props: SlideViewProps): ReactElement {
  const { slide, model, texts, shareUrl, isMuted, onMute } = props;
  const isLiked = model.isLiked(slide);
  const isSaved = model.isSaved(slide);
  const share = async (): Promise<void> => {
    const id = encodeURIComponent(slide.item.id);
    const message = shareUrl?.replaceAll('{id}', id) ?? model.addressOf(slide);
    try {
      const { action } = await Share.share({ title: slide.item.title, message });
      if (action !== Share.dismissedAction) model.noteShare(slide);
    } catch {
      // The viewer closed the sheet, or the browser has none.
    }
  };
  return (
    <View style={styles.actions}>
      <Button
        label={texts.like}
        sign={isLiked ? '♥' : '♡'}
        count={model.likesOf(slide)}
        isOn={isLiked}
        onPress={() => model.toggleLike(slide)}
      />
      <Button
        label={texts.save}
        sign={isSaved ? '★' : '☆'}
        isOn={isSaved}
        onPress={() => model.toggleSave(slide)}
      />
      <Button label={texts.share} sign="↗" onPress={() => void share()} />
      {slide.media.kind === 'video' && (
        <Button
          label={isMuted ? texts.soundOn : texts.soundOff}
          sign={isMuted ? '🔇' : '🔊'}
          onPress={onMute}
        />
      )}
    </View>
  );
}

type ButtonProps = {
  readonly label: string;
  readonly sign: string;
  readonly count?: number;
  /** Absent for buttons that are not toggles. */
  readonly isOn?: boolean;
  readonly onPress: () => void;
};

export function Button({ label, sign, count, isOn, onPress }: ButtonProps): ReactElement {
  return (
    <Pressable
      style={styles.button}
      accessibilityRole={isOn === undefined ? 'button' : 'switch'}
      accessibilityLabel={label}
      {...(isOn !== undefined && { 'aria-checked': isOn })}
      onPress={onPress}
    >
      <Text style={styles.sign}>{sign}</Text>
      {count !== undefined && <Text style={styles.count}>{String(count)}</Text>}
    </Pressable>
  );
}

const styles = StyleSheet.create({
  slide: { backgroundColor: '#000', overflow: 'hidden' },
  fill: { flex: 1 },
  about: { position: 'absolute', left: 16, right: 88, bottom: 32, gap: 4 },
  author: { color: '#fff', fontSize: 14, fontWeight: '600' },
  title: { color: '#fff', fontSize: 16, fontWeight: '700' },
  description: { color: 'rgba(255, 255, 255, 0.85)', fontSize: 14 },
  live: {
    alignSelf: 'flex-start',
    paddingHorizontal: 6,
    borderRadius: 4,
    overflow: 'hidden',
    color: '#fff',
    backgroundColor: '#d11',
    fontSize: 12,
    fontWeight: '700',
  },
  actions: { position: 'absolute', right: 12, bottom: 32, gap: 12, alignItems: 'center' },
  button: { minWidth: 48, minHeight: 48, alignItems: 'center', justifyContent: 'center' },
  sign: { color: '#fff', fontSize: 28 },
  count: { color: '#fff', fontSize: 13 },
  problem: {
    position: 'absolute',
    top: '40%',
    left: 24,
    right: 24,
    alignItems: 'center',
    gap: 12,
  },
});
