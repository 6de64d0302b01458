/** Runs of a saved report and its share links. */
import { Anchor, Button, Code, Group, Stack, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useList, useRead } from '../../data.ts';
import { Side } from '../../drawer.tsx';
import { moment } from '../../format.ts';
import { Copy } from '../../page.tsx';
import { Failed, More, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type Parts = { id: string; name: string; close: () => void };

export function ReportRuns({ id, name, close }: Parts): ReactNode {
  const [shown, setShown] = useState<string | null>(null);
  const runs = useList(
    '/v1/analytics/reports/{id}/runs',
    { path: { id } },
    { every: (rows) => (rows.some(({ status }) => status === 'pending') ? 2_000 : false) },
  );
  return (
    <Side title={t('Runs of {name}', { name })} close={close}>
      <Stack>
        <Show of={runs}>
          {(data) =>
            data.length === 0 ? (
              <Text size="sm">{t('It has not run yet.')}</Text>
            ) : (
              <Stack gap="xs">
                {data.map((run) => (
                  <Group key={run.id} gap="xs">
                    <Text size="sm">
                      {t('{startDate} to {endDate}: {value}, {createdAt}', {
                        startDate: run.startDate,
                        endDate: run.endDate,
                        value: run.error ?? run.status,
                        createdAt: moment(run.createdAt),
                      })}
                    </Text>
                    {run.status === 'ready' && (
                      <Button size="compact-sm" variant="default" onClick={() => setShown(run.id)}>
                        {t('Show')}
                      </Button>
                    )}
                  </Group>
                ))}
              </Stack>
            )
          }
        </Show>
        <More of={runs} />
        {shown !== null && <RunData id={id} runId={shown} />}
      </Stack>
    </Side>
  );
}

function RunData({ id, runId }: { id: string; runId: string }): ReactNode {
  const run = useRead('/v1/analytics/reports/{id}/runs/{runId}', { path: { id, runId } });
  return (
    <Show of={run}>
      {({ data }) => (
        <Code block mah={400}>
          {JSON.stringify(data.data, null, 2)}
        </Code>
      )}
    </Show>
  );
}

export function ReportLinks({ id, name, close }: Parts): ReactNode {
  const links = useRead('/v1/analytics/reports/{id}/links', { path: { id } });
  const create = useChange(() =>
    api.post('/v1/analytics/reports/{id}/links', { path: { id }, body: {} }),
  );
  const revoke = useChange((linkId: string) =>
    api.delete('/v1/analytics/reports/{id}/links/{linkId}', { path: { id, linkId } }),
  );
  return (
    <Side title={t('Links to {name}', { name })} close={close}>
      <Stack>
        <Text size="sm">
          {t('Anyone with a link can read the report. Links work for 30 days.')}
        </Text>
        <Button loading={create.isPending} onClick={() => create.mutate()}>
          {t('Create a link')}
        </Button>
        <Show of={links}>
          {({ data }) => (
            <Stack gap="xs">
              {data.map((link) => (
                <Group key={link.id} gap="xs">
                  <Anchor href={link.url} target="_blank" rel="noreferrer" size="sm">
                    {t('Until {expiresAt}', { expiresAt: moment(link.expiresAt) })}
                  </Anchor>
                  <Copy text={link.url} label={t('Copy the link')} />
                  <Button
                    size="compact-sm"
                    variant="default"
                    onClick={() => revoke.mutate(link.id)}
                  >
                    {t('Revoke')}
                  </Button>
                </Group>
              ))}
            </Stack>
          )}
        </Show>
        <Failed error={create.error ?? revoke.error} />
      </Stack>
    </Side>
  );
}
