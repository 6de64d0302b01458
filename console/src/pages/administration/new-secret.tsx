/** A newly created key, shown once. */
import { Alert, Code, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { Copy } from '../../page.tsx';
import { t } from '../../texts/texts.ts';

export const rotating = (name: string) => ({
  title: t('Replace “{name}”?', { name }),
  text: t('A new key is made and shown once. The old one keeps working for an hour.'),
  action: t('Replace the key'),
});

export function Shown({ secret }: { secret: string }): ReactNode {
  return (
    <Alert title={t('The key is shown this once: keep it')} role="status">
      <Group>
        <Code style={{ overflowWrap: 'anywhere' }}>{secret}</Code>
        <Copy text={secret} label={t('Copy')} />
      </Group>
    </Alert>
  );
}
