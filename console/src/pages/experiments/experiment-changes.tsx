/** Changes to a running experiment: pausing, more viewers, a later end. */
import { Button, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange } from '../../data.ts';
import { fromLocalTime, localTime } from '../../format.ts';
import { Failed } from '../../states.tsx';
import { NumberField } from '../../number-field.tsx';
import type { Experiment } from './experiment.tsx';
import { t } from '../../texts/texts.ts';

type Dialog = { isOpen: boolean; close: () => void };

export function PauseDialog({ id, isOpen, close }: Dialog & { id: string }): ReactNode {
  const [note, setNote] = useState('');
  const pause = useChange(() =>
    api.post('/v1/experiments/{id}/pause', {
      path: { id },
      body: note.trim() === '' ? {} : { note: note.trim() },
    }),
  );
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={t('Pause the experiment')}
      closeButtonProps={{ 'aria-label': t('Close') }}
    >
      <Stack>
        <Text size="sm">
          {t(
            'Viewers get the base values until you resume it, and then the same variants as before.',
          )}
        </Text>
        <TextInput
          label={t('Why')}
          data-autofocus
          maxLength={2_000}
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
        <Failed error={pause.error} />
        <Button
          loading={pause.isPending}
          onClick={() => pause.mutate(undefined, { onSuccess: close })}
        >
          {t('Pause the experiment')}
        </Button>
      </Stack>
    </Modal>
  );
}

export function ChangeDialog({
  experiment,
  isOpen,
  close,
}: Dialog & { experiment: Experiment }): ReactNode {
  const { id, traffic, endsAt } = experiment;
  const before = Math.round(traffic * 1_000) / 10;
  const [share, setShare] = useState(before);
  const [end, setEnd] = useState(localTime(endsAt));
  const body = {
    ...(share > before && { traffic: share / 100 }),
    ...(endsAt !== null && end !== localTime(endsAt) && { endsAt: fromLocalTime(end) }),
  };
  const change = useChange(() => api.patch('/v1/experiments/{id}', { path: { id }, body }));
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={t('Change the running experiment')}
      closeButtonProps={{ 'aria-label': t('Close') }}
    >
      <Stack>
        <Text size="sm">
          {t(
            'The share can be increased and the end moved later. Participants keep their variant.',
          )}
        </Text>
        <NumberField
          label={t('Share of viewers')}
          data-autofocus
          suffix=" %"
          min={before}
          max={100}
          value={share}
          onChange={setShare}
        />
        {endsAt !== null && (
          <TextInput
            type="datetime-local"
            label={t('End')}
            value={end}
            onChange={(event) => setEnd(event.currentTarget.value)}
          />
        )}
        <Failed error={change.error} />
        <Button
          disabled={Object.keys(body).length === 0}
          loading={change.isPending}
          onClick={() => change.mutate(undefined, { onSuccess: close })}
        >
          {t('Change the experiment')}
        </Button>
      </Stack>
    </Modal>
  );
}
