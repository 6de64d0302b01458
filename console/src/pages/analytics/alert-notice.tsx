/** Shows firing alerts on the first page. */
import { Alert, Anchor, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useRead } from '../../data.ts';
import { t } from '../../texts/texts.ts';

export function AlertNotice(): ReactNode {
  const { data } = useRead('/v1/analytics/alerts', {}, { every: 60_000 });
  const firing = (data?.data ?? []).filter(
    ({ isEnabled, state }) => isEnabled && state === 'firing',
  );
  if (firing.length === 0) return null;
  const title = firing.length === 1 ? 'An alert is firing' : `${firing.length} alerts are firing`;
  return (
    <Alert color="red" title={title} role="status">
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {firing.map(({ name }) => name).join(', ')}.{' '}
        <Anchor href="#/alerts" inherit underline="always">
          {t('Show alerts')}
        </Anchor>
      </Text>
    </Alert>
  );
}
