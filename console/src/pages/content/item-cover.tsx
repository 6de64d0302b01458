/** Chooses a video's thumbnail: the picture shown in the player, an image, or the first picture. */
import { Button, FileButton, Group, Image, Stack, Text, Title } from '@mantine/core';
import { useState, type ReactNode, type RefObject } from 'react';
import { api, sendForm } from '../../api.ts';
import { itemAddress, useChange, useTagged, type Item } from '../../data.ts';
import { Failed } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type CoverParts = {
  item: Item;
  /** The item's thumbnail; for a protected item, one with a playback token. */
  thumbnailUrl: string | null;
  video: RefObject<HTMLVideoElement | null>;
};

export function ItemCover({ item, thumbnailUrl, video }: CoverParts): ReactNode {
  const path = { id: item.id };
  /** The thumbnail before the last change, until the new one is ready. */
  const [replaced, setReplaced] = useState<string | null>(null);
  const isMaking = replaced !== null && item.thumbnailUrl === replaced;
  useTagged<'/v1/content/{id}'>('/v1/content/{id}', itemAddress(item.id), {
    every: () => (isMaking ? 1_000 : false),
  });
  const choose = useChange((thumbnailTime: number | null) =>
    api.patch('/v1/content/{id}', { path, body: { thumbnailTime } }),
  );
  const upload = useChange((file: File) => {
    const form = new FormData();
    form.set('file', file);
    return sendForm(`/v1/content/${item.id}/cover`, form, 'PUT');
  });
  const reset = useChange(() => api.delete('/v1/content/{id}/cover', { path }));
  const isPending = choose.isPending || upload.isPending || reset.isPending;
  const takeShown = () => {
    setReplaced(item.thumbnailUrl);
    choose.mutate(Math.min(video.current?.currentTime ?? 0, item.duration ?? 0));
  };
  return (
    <Stack gap="xs" role="region" aria-label={t('Thumbnail')}>
      <Title order={2} size="h4">
        {t('Thumbnail')}
      </Title>
      <Group align="flex-start">
        {thumbnailUrl !== null && <Image src={thumbnailUrl} alt="" h={96} w="auto" radius="sm" />}
        <Stack gap="xs">
          <Text size="sm" role="status">
            {isMaking ? t('The thumbnail is being created.') : origin(item)}
          </Text>
          <Group gap="xs">
            <Button size="xs" variant="default" disabled={isPending} onClick={takeShown}>
              {t('Use the current frame')}
            </Button>
            <FileButton
              accept="image/jpeg,image/png,image/webp,image/avif,image/heic"
              inputProps={{ 'aria-label': 'Image for the thumbnail' }}
              onChange={(file) => file !== null && upload.mutate(file)}
            >
              {(props) => (
                <Button {...props} size="xs" variant="default" loading={upload.isPending}>
                  {t('Upload an image')}
                </Button>
              )}
            </FileButton>
            <Button
              size="xs"
              variant="default"
              disabled={isPending}
              onClick={() => reset.mutate(undefined)}
            >
              {t('Use the first frame')}
            </Button>
          </Group>
        </Stack>
      </Group>
      <Failed error={choose.error ?? upload.error ?? reset.error} />
    </Stack>
  );
}

function origin({ thumbnailTime }: Item): string {
  return thumbnailTime === null ? '' : `The picture at ${thumbnailTime.toFixed(1)} s.`;
}
