/** Alerts: their state, and creating, testing, pausing and deleting them. */
import {
  Badge,
  Button,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useRead } from '../../data.ts';
import { Opener } from '../../drawer.tsx';
import { moment } from '../../format.ts';
import { CopyCurl, Page } from '../../page.tsx';
import { askThen } from '../../questions.tsx';
import { Empty, Failed, Show } from '../../states.tsx';
import { AlertHistory } from './alert-history.tsx';
import {
  conditionChoices,
  describeCondition,
  describeFilter,
  describeLast,
  freshAlert,
  hasThreshold,
  metricChoices,
  metricLabel,
  problemOf,
  ruleOf,
  type Alert,
  type AlertDraft,
} from './alert-rules.ts';
import { t } from '../../texts/texts.ts';

const path = '/v1/analytics/alerts';

export function AlertsPage(): ReactNode {
  const alerts = useRead('/v1/analytics/alerts', {}, { every: 30_000 });
  return (
    <Page
      title={t('Alerts')}
      about={t(
        'Each hour is evaluated a few minutes after it ends. Webhooks subscribed to analytics.alert are notified when an alert opens and when it is resolved.',
      )}
      curl={{ path }}
      actions={<Opener label={t('New alert')}>{(close) => <NewAlertForm done={close} />}</Opener>}
    >
      <Show of={alerts}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>
              {t('No alerts yet. “New alert” creates one, after a test on the last 14 days.')}
            </Empty>
          ) : (
            <Alerts alerts={data} />
          )
        }
      </Show>
    </Page>
  );
}

function NewAlertForm({ done }: { done: () => void }): ReactNode {
  const [draft, setDraft] = useState(freshAlert);
  const change = (changes: Partial<AlertDraft>) => {
    setDraft((old) => ({ ...old, ...changes }));
    attempt.reset();
  };
  const body = { name: draft.name, ...ruleOf(draft) };
  const create = useChange(() => api.post('/v1/analytics/alerts', { body }));
  const attempt = useChange(
    () => api.post('/v1/analytics/alerts/test', { body: { ...ruleOf(draft), days: 14 } }),
    { reads: 'none' },
  );
  const problem = problemOf(draft);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(undefined, { onSuccess: done });
  };
  return (
    <form onSubmit={submit}>
      <Stack maw={900}>
        <Fields draft={draft} change={change} />
        <Group>
          <Button
            variant="default"
            loading={attempt.isPending}
            disabled={problem !== null}
            onClick={() => attempt.mutate()}
          >
            {t('Test on the last 14 days')}
          </Button>
          <Button type="submit" loading={create.isPending} disabled={problem !== null}>
            {t('Create alert')}
          </Button>
          {problem === null && <CopyCurl method="POST" path={path} body={body} />}
        </Group>
        {attempt.data !== undefined && <Tried of={attempt.data.data} />}
        <Failed error={attempt.error ?? create.error} />
      </Stack>
    </form>
  );
}

function Tried({
  of: { fired, hoursJudged, hoursUnknown, openings },
}: {
  of: { fired: number; hoursJudged: number; hoursUnknown: number; openings: Opening[] };
}): ReactNode {
  const times = fired === 1 ? 'once' : `${fired} times`;
  return (
    <Text size="sm" role="status">
      {t(
        'It would have opened {times}. {hoursJudged} hours were evaluated, {hoursUnknown} had too little data.',
        { times, hoursJudged, hoursUnknown },
      )}
      {openings.length > 0 && t(' Last: {moment}.', { moment: moment(openings.at(-1)?.openedAt) })}
    </Text>
  );
}

type Opening = { openedAt: string };

function Fields({
  draft,
  change,
}: {
  draft: AlertDraft;
  change: (changes: Partial<AlertDraft>) => void;
}): ReactNode {
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }}>
      <TextInput
        label={t('Name')}
        required
        maxLength={200}
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
      />
      <Select
        label={t('Metric')}
        allowDeselect={false}
        data={metricChoices}
        value={draft.metric}
        onChange={(metric) => change({ metric: metric ?? freshAlert.metric })}
      />
      <Select
        label={t('When it is')}
        allowDeselect={false}
        data={conditionChoices}
        value={draft.condition}
        onChange={(condition) => change({ condition: condition ?? freshAlert.condition })}
      />
      {hasThreshold(draft) && (
        <NumberInput
          label={t('Threshold (rates: 0 to 1)')}
          min={0}
          value={draft.threshold}
          onChange={(threshold) => change({ threshold })}
        />
      )}
      <Select
        label={t('Device (empty: all)')}
        clearable
        clearButtonProps={{ 'aria-label': 'All devices' }}
        data={['ios', 'android', 'web']}
        value={draft.device}
        onChange={(device) => change({ device })}
      />
      <TextInput
        label={t('Version of the app (empty: all)')}
        maxLength={200}
        value={draft.appVersion}
        onChange={(event) => change({ appVersion: event.currentTarget.value })}
      />
      <NumberInput
        label={t('Minimum data per hour')}
        min={1}
        value={draft.minData}
        onChange={(minData) => change({ minData })}
      />
    </SimpleGrid>
  );
}

const colors = { firing: 'red.9', ok: 'green.9', unknown: 'gray.7' } as const;

function Alerts({ alerts }: { alerts: readonly Alert[] }): ReactNode {
  return (
    <Table.ScrollContainer minWidth={640}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Name')}</Table.Th>
            <Table.Th>{t('State')}</Table.Th>
            <Table.Th>{t('Metric')}</Table.Th>
            <Table.Th>{t('When it is')}</Table.Th>
            <Table.Th>{t('Last hour')}</Table.Th>
            <Table.Th>{t('Opened')}</Table.Th>
            <Table.Th>{t('Action')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {alerts.map((alert) => (
            <Table.Tr key={alert.id}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{alert.name}</Table.Td>
              <Table.Td>
                <Badge color={alert.isEnabled ? colors[alert.state] : 'gray.7'}>
                  {alert.isEnabled ? alert.state : 'paused'}
                </Badge>
              </Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                {[metricLabel(alert.metric), describeFilter(alert)].filter(Boolean).join(', ')}
              </Table.Td>
              <Table.Td>{describeCondition(alert)}</Table.Td>
              <Table.Td>{describeLast(alert)}</Table.Td>
              <Table.Td>{moment(alert.openedAt)}</Table.Td>
              <Table.Td>
                <Actions of={alert} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const deleting = (name: string) => ({
  title: t('Delete {name}?', { name }),
  text: t('Nobody is notified any more, and its history is deleted.'),
  action: t('Delete the alert'),
});

function Actions({ of: { id, name, isEnabled } }: { of: Alert }): ReactNode {
  const turn = useChange(() =>
    api.patch('/v1/analytics/alerts/{id}', { path: { id }, body: { isEnabled: !isEnabled } }),
  );
  const remove = useChange(() => api.delete('/v1/analytics/alerts/{id}', { path: { id } }));
  const [isHistoryOpen, setHistoryOpen] = useState(false);
  const label = isEnabled ? 'Pause' : 'Resume';
  return (
    <Group gap="xs" wrap="nowrap">
      <Button
        size="compact-sm"
        variant="default"
        aria-label={t('History of {name}', { name })}
        onClick={() => setHistoryOpen(true)}
      >
        {t('History')}
      </Button>
      {isHistoryOpen && <AlertHistory id={id} name={name} close={() => setHistoryOpen(false)} />}
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`${label} ${name}`}
        loading={turn.isPending}
        onClick={() => turn.mutate()}
      >
        {label}
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={t('Delete {name}', { name })}
        loading={remove.isPending}
        onClick={() => askThen(deleting(name), () => remove.mutate())}
      >
        {t('Delete')}
      </Button>
      <Failed error={turn.error ?? remove.error} />
    </Group>
  );
}
