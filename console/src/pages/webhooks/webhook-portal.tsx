/** Portal links for a webhook's customer: create, list, revoke. */
import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useList, type ItemOf } from '../../data.ts';
import { moment } from '../../format.ts';
import { Copy } from '../../page.tsx';
import { Failed, More, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type Link = ItemOf<'/v1/webhook-portal-links'>;

export function PortalLinks({ customer }: { customer: string }): ReactNode {
  const links = useList('/v1/webhook-portal-links', { query: { customer } });
  const make = useChange(() => api.post('/v1/webhook-portal-links', { body: { customer } }));
  const made = make.data?.data;
  return (
    <Stack gap="xs">
      <Button
        variant="default"
        w="fit-content"
        maw="100%"
        loading={make.isPending}
        onClick={() => make.mutate()}
      >
        {t('Make a portal link for {value}', { value: customer.slice(0, 40) })}
      </Button>
      <Failed error={make.error} />
      {made !== undefined && (
        <Alert
          title={t(
            'Anyone with this link can manage the webhooks for an hour, or until you revoke it',
          )}
          role="status"
        >
          <Group>
            <Code style={{ overflowWrap: 'anywhere' }}>{made.url}</Code>
            <Copy text={made.url} label={t('Copy the link')} />
          </Group>
        </Alert>
      )}
      <Show of={links}>
        {(data) => (
          <Stack gap={4}>
            {data.map((link) => (
              <LinkLine key={link.id} link={link} />
            ))}
          </Stack>
        )}
      </Show>
      <More of={links} />
    </Stack>
  );
}

function LinkLine({ link: { id, createdAt, expiresAt } }: { link: Link }): ReactNode {
  const revoke = useChange(() => api.delete('/v1/webhook-portal-links/{id}', { path: { id } }));
  return (
    <>
      <Group gap="xs">
        <Text size="sm">
          {t('Portal link of {createdAt}, open until {expiresAt}', {
            createdAt: moment(createdAt),
            expiresAt: moment(expiresAt),
          })}
        </Text>
        <Button
          size="compact-sm"
          variant="default"
          aria-label={t('Revoke the link of {createdAt}', { createdAt: moment(createdAt) })}
          loading={revoke.isPending}
          onClick={() => revoke.mutate()}
        >
          {t('Revoke')}
        </Button>
      </Group>
      <Failed error={revoke.error} />
    </>
  );
}
