/** The item's public link and its embed code. */
import { Alert, Code, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { serviceAddress } from '../../api.ts';
import { useList, type Item } from '../../data.ts';
import { Copy } from '../../page.tsx';
import { t } from '../../texts/texts.ts';

const playerCode = (origin: string, key: string, id: string): string =>
  `<script type="module" src="${origin}player/reelfeed-feed.js"></script>
<reelfeed-player key="${key}" content-id="${id}"></reelfeed-player>`;

export function Sharing({
  item: { id, visibility, publishStatus, uploadStatus },
}: {
  item: Item;
}): ReactNode {
  // Only a key's prefix is available after its creation.
  const keys = useList('/v1/keys', {});
  const prefix = keys.data?.find(
    ({ type, revokedAt }) => type === 'publishable' && revokedAt === null,
  )?.prefix;
  const key = prefix === undefined ? 'rf_pk_…' : `${prefix}…`;
  const link = serviceAddress(`/feed#${id}`);
  const code = playerCode(serviceAddress('/'), key, id);
  const isOpen =
    visibility !== 'private' && publishStatus === 'published' && uploadStatus === 'ready';
  return (
    <Stack gap="xs" role="region" aria-label={t('Share and embed')}>
      <Title order={2} size="h4">
        {t('Share and embed')}
      </Title>
      {!isOpen && (
        <Alert color="yellow">
          {t('It plays for others once it is ready, published, and public or unlisted.')}
        </Alert>
      )}
      <Group gap="xs">
        <Code style={{ overflowWrap: 'anywhere' }}>{link}</Code>
        <Copy text={link} label={t('Copy link')} />
      </Group>
      <Code block tabIndex={0}>
        {code}
      </Code>
      <Group gap="xs">
        <Copy text={code} label={t('Copy embed code')} />
      </Group>
      <Text size="sm">{t('Replace the key with one of your public keys.')}</Text>
    </Stack>
  );
}
