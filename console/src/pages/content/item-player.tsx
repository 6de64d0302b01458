/** Plays an item; a protected one with a playback token. */
import { AspectRatio, Box, Progress, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode, type RefObject } from 'react';
import { api } from '../../api.ts';
import type { Item } from '../../data.ts';
import { Failed } from '../../states.tsx';
import { ItemCover } from './item-cover.tsx';
import { t } from '../../texts/texts.ts';

export function ItemPlayer({
  item,
  video: given,
}: {
  item: Item;
  /** Receives the player's video element, for callers that use its position. */
  video?: RefObject<HTMLVideoElement | null>;
}): ReactNode {
  const own = useRef<HTMLVideoElement>(null);
  const video = given ?? own;
  const needsToken = item.protected || item.visibility === 'private';
  const token = useQuery({
    queryKey: ['playback token', item.id, item.updatedAt],
    queryFn: () => api.post('/v1/content/{id}/playback-token', { path: { id: item.id } }),
    enabled: needsToken && item.uploadStatus === 'ready',
    staleTime: 600_000,
  });
  const media = needsToken ? token.data?.data : item;
  const ratio = item.width !== null && item.height !== null ? item.width / item.height : 9 / 16;
  if (item.uploadStatus !== 'ready') {
    return (
      <Box mih={120}>
        <Text mb="xs">
          {item.uploadStatus === 'processing'
            ? t('The video is being processed.')
            : item.uploadStatus === 'pending'
              ? t('No video has been uploaded yet.')
              : t('The video cannot be played.')}
        </Text>
        {item.uploadStatus === 'processing' && (
          <Progress value={item.progress * 100} aria-label={t('Progress of processing')} />
        )}
      </Box>
    );
  }
  return (
    <Stack>
      <AspectRatio ratio={ratio} maw={Math.min(560, 480 * ratio)} bg="black">
        {media?.streamingUrl ? (
          <Stream
            video={video}
            url={media.streamingUrl}
            poster={media.thumbnailUrl}
            title={item.title}
          />
        ) : (
          <Failed error={token.error} />
        )}
      </AspectRatio>
      {item.width !== null && (
        <ItemCover item={item} thumbnailUrl={media?.thumbnailUrl ?? null} video={video} />
      )}
    </Stack>
  );
}

type StreamParts = {
  video: RefObject<HTMLVideoElement | null>;
  url: string;
  poster: string | null;
  title: string;
};

function Stream({ video, url, poster, title }: StreamParts): ReactNode {
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    const element = video.current;
    if (element === null) return;
    let close = () => {};
    const start = async () => {
      const { default: Hls } = await import('hls.js');
      if (video.current !== element) return;
      if (!Hls.isSupported()) {
        element.src = url;
        return;
      }
      // The worker would be loaded from a blob, which the page's content security policy forbids.
      const hls = new Hls({ enableWorker: false });
      close = () => hls.destroy();
      hls.on(Hls.Events.ERROR, (_name, { fatal, details }) => {
        if (fatal) setError(new Error(`The video cannot be played: ${details}.`));
      });
      hls.loadSource(url);
      hls.attachMedia(element);
    };
    start().catch(setError);
    return () => close();
  }, [url, video]);
  if (error !== null) return <Failed error={error} />;
  return (
    <video
      ref={video}
      controls
      loop
      playsInline
      poster={poster ?? undefined}
      aria-label={t('Player: {title}', { title })}
      style={{ width: '100%', height: '100%' }}
    >
      {/* hls.js adds the stream's captions. */}
      <track kind="captions" />
    </video>
  );
}
