/** A surface with a heading, and rows with bars. */
import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import './card.css';
import { t } from './texts/texts.ts';

export function Card({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}): ReactNode {
  return (
    <Paper withBorder p="md" miw={0}>
      <Stack gap="xs">
        <Group justify="space-between">
          <Title order={2} size="h5">
            {title}
          </Title>
          {actions}
        </Group>
        {children}
      </Stack>
    </Paper>
  );
}

export const Nothing = (): ReactNode => <Text size="sm">{t('Nothing in this range.')}</Text>;
