import { Button, Checkbox, Group, Select, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange } from '../../data.ts';
import { CopyCurl } from '../../page.tsx';
import { Failed } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

const kinds = [
  'overview',
  'audience',
  'content',
  'engagement',
  'quality',
  'retention',
  'movers',
  'sources',
  'viewers',
  'hours',
] as const;
const ranges = [
  { value: 'yesterday', label: t('Yesterday') },
  { value: 'last7Days', label: t('Last 7 days') },
  { value: 'last28Days', label: t('Last 28 days') },
  { value: 'last90Days', label: t('Last 90 days') },
  { value: 'lastWeek', label: t('Last week, from Monday') },
  { value: 'lastMonth', label: t('Last month') },
] as const;
const schedules = [
  { value: 'none', label: t('Only on request') },
  { value: 'day', label: t('Every day at 7:00') },
  { value: 'week', label: t('Mondays at 7:00') },
  { value: 'month', label: t('On the first at 7:00') },
] as const;
const hour = 7;

const fresh = {
  name: '',
  report: 'overview' as (typeof kinds)[number],
  range: 'last7Days' as (typeof ranges)[number]['value'],
  schedule: 'none' as (typeof schedules)[number]['value'],
  recipients: '',
  postsWebhook: false,
};
type Draft = typeof fresh;

function scheduleOf({ schedule }: Draft) {
  switch (schedule) {
    case 'none':
      return null;
    case 'day':
      return { every: 'day' as const, hour };
    case 'week':
      return { every: 'week' as const, weekday: 1, hour };
    case 'month':
      return { every: 'month' as const, day: 1, hour };
  }
}

function bodyOf(draft: Draft) {
  const recipients = draft.recipients.split(/[\s,;]+/).filter((address) => address !== '');
  const { name, report, range, postsWebhook } = draft;
  return { name, report, range, postsWebhook, recipients, schedule: scheduleOf(draft) };
}

export function NewReportForm(): ReactNode {
  const [draft, setDraft] = useState(fresh);
  const change = (changes: Partial<Draft>) => setDraft((old) => ({ ...old, ...changes }));
  const body = bodyOf(draft);
  const create = useChange(() => api.post('/v1/analytics/reports', { body }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(undefined, { onSuccess: () => setDraft(fresh) });
  };
  return (
    <form onSubmit={submit}>
      <Stack maw={900}>
        <SimpleGrid cols={{ base: 1, sm: 3 }}>
          <TextInput
            label={t('Name')}
            required
            maxLength={200}
            value={draft.name}
            onChange={(event) => change({ name: event.currentTarget.value })}
          />
          <Select
            label={t('Report')}
            allowDeselect={false}
            data={kinds}
            value={draft.report}
            onChange={(report) => change({ report: report ?? fresh.report })}
          />
          <Select
            label={t('Days')}
            allowDeselect={false}
            data={ranges}
            value={draft.range}
            onChange={(range) => change({ range: range ?? fresh.range })}
          />
          <Select
            label={t('Schedule')}
            allowDeselect={false}
            data={schedules}
            value={draft.schedule}
            onChange={(schedule) => change({ schedule: schedule ?? fresh.schedule })}
          />
          <TextInput
            label={t('Mail to (empty: nobody)')}
            value={draft.recipients}
            onChange={(event) => change({ recipients: event.currentTarget.value })}
          />
          <Checkbox
            label={t('Tell webhooks')}
            mt="xl"
            checked={draft.postsWebhook}
            onChange={(event) => change({ postsWebhook: event.currentTarget.checked })}
          />
        </SimpleGrid>
        <Group>
          <Button type="submit" loading={create.isPending} disabled={draft.name === ''}>
            {t('Save report')}
          </Button>
          <CopyCurl method="POST" path="/v1/analytics/reports" body={body} />
        </Group>
        <Failed error={create.error} />
      </Stack>
    </form>
  );
}
