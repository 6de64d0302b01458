/** Sends one event manually to check that it arrives. It counts like any other. */
import { Button, Group, Select, Stack, Text, TextInput, Title } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange } from '../../data.ts';
import { formText } from '../../form-text.ts';
import { CopyCurl } from '../../page.tsx';
import { Failed } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type Body = NonNullable<Parameters<typeof api.post<'/v1/events'>>[1]>['body'];

const kinds = ['impression', 'playStart', 'completion', 'like', 'unlike', 'share', 'save'];

export function SendEvent({ userId }: { userId: string }): ReactNode {
  const [event, setEvent] = useState('like');
  const [contentId, setContentId] = useState('');
  const send = useChange((body: Body) => api.post('/v1/events', { body }));
  const body = (id: string) => ({ event, contentId: id, userId, data: {} }) as Body;
  const submit = (submitted: FormEvent<HTMLFormElement>) => {
    submitted.preventDefault();
    send.mutate(body(formText(submitted.currentTarget, 'contentId')));
  };
  return (
    <Stack gap="xs" role="region" aria-label={t('Send an event')}>
      <Title order={2} size="h4">
        {t('Send an event')}
      </Title>
      <Text size="sm">
        {t('It counts like the events of your app. “Live” on the overview shows it arriving.')}
      </Text>
      <form onSubmit={submit}>
        <Group align="end">
          <Select
            label={t('Event')}
            allowDeselect={false}
            data={kinds}
            value={event}
            onChange={(value) => setEvent(value ?? event)}
          />
          <TextInput
            name="contentId"
            label={t('Item id')}
            required
            miw={320}
            value={contentId}
            onChange={({ currentTarget }) => setContentId(currentTarget.value)}
          />
          <Button type="submit" variant="default" loading={send.isPending}>
            {t('Send the event')}
          </Button>
          <CopyCurl method="POST" path="/v1/events" body={body(contentId)} />
        </Group>
      </form>
      <Failed error={send.error} />
      {send.isSuccess && (
        <Text role="status">
          {t('Received as {eventId}.', { eventId: send.data.data.eventId })}
        </Text>
      )}
    </Stack>
  );
}
