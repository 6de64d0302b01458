/** A newly created key, shown once. */
import { Alert, Code, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { Copy } from '../../page.tsx';
import { t } from '../../texts/texts.ts';

export const rotating = (name: string) => ({
  title: t('Replace “{name}”?', { name }),
  text: t('A new key is created and shown once. The old one keeps working for an hour.'),
  action: t('Replace the key'),
});

export function Shown({ secret }: { secret: string }): ReactNode {
  return (
    <Alert title={t('The key is shown only once: store it safely')} role="status">
      <Group>
        <Code style={{ overflowWrap: 'anywhere' }}>{secret}</Code>
        <Copy text={secret} label={t('Copy')} />
      </Group>
    </Alert>
  );
}
