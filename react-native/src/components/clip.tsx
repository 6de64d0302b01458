import { useEffect, useState, type ReactElement } from 'react';
import { Image, StyleSheet } from 'react-native';
import { useVideoPlayer, VideoView } from 'expo-video';
import { type PlaybackFailure, type Slide } from '@reelfeed/client/playing';
import { sampleOf } from '../clip-sample.ts';
import { failureOf, openAddressOf, type FeedModel } from '../feed-model.ts';

export type ClipProps = {
  readonly slide: Slide;
  readonly model: FeedModel;
  /** Whether this is the current clip; others only load. */
  readonly isWatched: boolean;
  readonly isPaused: boolean;
  readonly isMuted: boolean;
  /** Called when the first picture moves. */
  readonly onStart: () => void;
  readonly onFail: (failure: PlaybackFailure) => void;
};

const sampleEveryMs = 100;

/** A clip: its poster until its address is known, then its player. */
export function Clip(props: ClipProps): ReactElement {
  const { slide, model, onFail } = props;
  const [uri, setUri] = useState(() => openAddressOf(slide));
  useEffect(() => {
    if (uri !== null) return undefined;
    let isHere = true;
    model.mediaOf(slide).then(
      ({ streamingUrl }) => isHere && setUri(streamingUrl),
      (error: unknown) => isHere && onFail(failureOf(error)),
    );
    return () => {
      isHere = false;
    };
    // A clip's slide never changes: the list creates another component.
  }, [uri]);
  return uri === null ? <Poster slide={slide} /> : <Player {...props} uri={uri} />;
}

/** An item's thumbnail, filling its area. */
export function Poster({ slide }: { readonly slide: Slide }): ReactElement | null {
  const uri = slide.item.thumbnailUrl;
  if (uri === null || uri === '') return null;
  return <Image accessible={false} source={{ uri }} style={styles.fill} resizeMode="contain" />;
}

function Player({
  slide,
  model,
  uri,
  isWatched,
  isPaused,
  isMuted,
  onStart,
  onFail,
}: ClipProps & { readonly uri: string }): ReactElement {
  const [hasStarted, setHasStarted] = useState(false);
  const player = useVideoPlayer({ uri, contentType: 'hls' }, (made) => {
    made.loop = !slide.item.isLive;
    made.muted = isMuted;
  });
  const isPlaying = isWatched && !isPaused;

  useEffect(() => {
    player.muted = isMuted;
  }, [player, isMuted]);

  useEffect(() => {
    if (isPlaying) player.play();
    else player.pause();
  }, [player, isPlaying]);

  // A clip restarts when the viewer returns to it.
  useEffect(() => {
    if (!isWatched && !slide.item.isLive && player.currentTime > 0) player.currentTime = 0;
  }, [player, isWatched]);

  useEffect(() => {
    const failed = (message: string): void => onFail({ code: 'PLAYER_ERROR', message });
    if (player.status === 'error') failed('The clip cannot be played.');
    const subscription = player.addListener('statusChange', ({ status, error }) => {
      if (status === 'error') failed(error?.message ?? 'The clip cannot be played.');
    });
    return () => subscription.remove();
  }, [player, isWatched]);

  useEffect(() => {
    if (!isWatched) return undefined;
    const timer = setInterval(() => {
      const sample = sampleOf(player, isPaused, performance.now());
      model.measure(slide, sample);
      if (sample.position > 0 && !sample.starved) {
        setHasStarted(true);
        onStart();
      }
    }, sampleEveryMs);
    return () => clearInterval(timer);
  }, [player, model, isWatched, isPaused]);

  return (
    <>
      <VideoView
        player={player}
        style={styles.fill}
        contentFit="contain"
        nativeControls={false}
        playsInline
      />
      {!hasStarted && <Poster slide={slide} />}
    </>
  );
}

const styles = StyleSheet.create({
  fill: {
    position: 'absolute',
    top: 0,
    right: 0,
    bottom: 0,
    left: 0,
    width: '100%',
    height: '100%',
  },
});
