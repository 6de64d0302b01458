/** Shows on the first page which webhooks are failing, or were disabled because they failed. */
import { Alert, Anchor, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useList } from '../../data.ts';
import { moment } from '../../format.ts';
import { t } from '../../texts/texts.ts';

export function WebhookNotices(): ReactNode {
  const webhooks = useList('/v1/webhooks', {}, { every: 30_000 });
  const failing = (webhooks.data ?? []).filter(
    ({ status, disabledReason, failingSince }) =>
      disabledReason === 'failing' || (status === 'active' && failingSince !== null),
  );
  if (failing.length === 0) return null;
  return (
    <Alert color="red" title={t('Webhooks that need attention')} role="status">
      <Stack gap={4}>
        {failing.map(({ id, url, disabledReason, failingSince }) => (
          <Anchor key={id} href={`#/webhooks/${id}`} underline="always" size="sm">
            {`${url}: ${
              disabledReason === 'failing'
                ? 'disabled, because it failed for too long'
                : `failing since ${moment(failingSince)}`
            }`}
          </Anchor>
        ))}
      </Stack>
    </Alert>
  );
}
