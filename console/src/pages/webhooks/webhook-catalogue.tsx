/** The kinds of events that webhooks receive, with samples, and recent events. */
import { Alert, Button, Checkbox, Code, Stack, Text } from '@mantine/core';
import { useMemo, useState, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useRead } from '../../data.ts';
import { moment } from '../../format.ts';
import { askThen } from '../../questions.tsx';
import { Failed, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type Kind = Parameters<typeof api.post<'/v1/webhook-events/trigger'>>[1]['body']['event'];

export function Catalogue(): ReactNode {
  const kinds = useRead('/v1/webhook-events', {});
  const trigger = useChange((event: Kind) =>
    api.post('/v1/webhook-events/trigger', { body: { event } }),
  );
  const question = (event: Kind) => ({
    title: t('Make up “{event}”?', { event }),
    text: t('Every webhook that has subscribed to it receives it, with sample data.'),
    action: t('Send the sample'),
  });
  return (
    <details>
      <summary>
        <Text size="sm" component="span">
          {t('Kinds of events, with samples')}
        </Text>
      </summary>
      <Failed error={trigger.error} />
      {trigger.data !== undefined && (
        <Alert role="status">
          {t('“{event}” goes to {deliveries} webhooks.', {
            event: trigger.data.data.event,
            deliveries: trigger.data.data.deliveries,
          })}
        </Alert>
      )}
      <Show of={kinds}>
        {({ data }) => (
          <Stack gap="xs" pt="xs">
            {data.map(({ event, description, example }) => (
              <details key={event}>
                <summary>
                  <Text size="sm" component="span">
                    <b>{event}</b> {description}
                  </Text>
                </summary>
                <Stack gap="xs">
                  <Code block tabIndex={0}>
                    {JSON.stringify(example, null, 2)}
                  </Code>
                  <Button
                    size="compact-sm"
                    variant="default"
                    w="fit-content"
                    aria-label={t('Make up {event}', { event })}
                    loading={trigger.isPending}
                    onClick={() => askThen(question(event), () => trigger.mutate(event))}
                  >
                    {t('Send a sample…')}
                  </Button>
                </Stack>
              </details>
            ))}
          </Stack>
        )}
      </Show>
    </details>
  );
}

const hourMs = 3_600_000;

/**
 * Events of the last hour, received by a webhook or not. Every change also creates an audit event;
 * these are shown only on demand, because they would hide everything else.
 */
export function RecentEvents(): ReactNode {
  const [hasAudit, setHasAudit] = useState(false);
  const since = useMemo(() => new Date(Date.now() - hourMs).toISOString(), []);
  const recent = useRead(
    '/v1/webhook-events/recent',
    { query: { since, limit: 100 } },
    { every: 10_000 },
  );
  return (
    <details>
      <summary>
        <Text size="sm" component="span">
          {t('Events of the last hour')}
        </Text>
      </summary>
      <Checkbox
        size="xs"
        pt="xs"
        label={t('Include changes of the audit log')}
        checked={hasAudit}
        onChange={(input) => setHasAudit(input.currentTarget.checked)}
      />
      <Show of={recent}>
        {({ data: all }) => {
          const data = all.filter(({ event }) => hasAudit || event !== 'audit.recorded');
          return data.length === 0 ? (
            <Text size="sm">{t('None yet.')}</Text>
          ) : (
            <Stack gap={4} pt="xs">
              {data.toReversed().map(({ id, event, timestamp, data: body }) => (
                <details key={id}>
                  <summary>
                    <Text size="sm" component="span">{`${event} · ${moment(timestamp)}`}</Text>
                  </summary>
                  <Code block tabIndex={0}>
                    {JSON.stringify(body, null, 2)}
                  </Code>
                </details>
              ))}
            </Stack>
          );
        }}
      </Show>
    </details>
  );
}
