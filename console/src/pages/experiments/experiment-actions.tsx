/** Actions of an experiment: start, change, pause, stop, roll out, copy, delete. */
import { Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange } from '../../data.ts';
import { goTo } from '../../location.ts';
import { askThen } from '../../questions.tsx';
import { Failed } from '../../states.tsx';
import { Configuration } from './experiment-configuration.tsx';
import { ChangeDialog, PauseDialog } from './experiment-changes.tsx';
import type { Experiment } from './experiment.tsx';
import { t } from '../../texts/texts.ts';

export function Actions({ experiment }: { experiment: Experiment }): ReactNode {
  const { id, status, variants, winner, pausedAt } = experiment;
  const path = { id };
  const start = useChange(() => api.post('/v1/experiments/{id}/start', { path }));
  const clone = useChange(() => api.post('/v1/experiments/{id}/clone', { path, body: {} }));
  const resume = useChange(() => api.post('/v1/experiments/{id}/resume', { path, body: {} }));
  const [isPausing, pausing] = useDisclosure();
  const [isChanging, changing] = useDisclosure();
  const [isStopping, stopping] = useDisclosure();
  const [isRollingOut, rollingOut] = useDisclosure();
  const isOver = status === 'stopped' || status === 'completed';
  return (
    <Group>
      {status === 'draft' && (
        <>
          <Button loading={start.isPending} onClick={() => start.mutate()}>
            {t('Start')}
          </Button>
          <Button component="a" variant="default" href={`#/experiments/${id}/edit`}>
            {t('Edit')}
          </Button>
        </>
      )}
      {status === 'running' && (
        <>
          <Button onClick={stopping.open}>{t('Stop…')}</Button>
          <Button variant="default" onClick={changing.open}>
            {t('More viewers, later end…')}
          </Button>
          {pausedAt === null ? (
            <Button variant="default" onClick={pausing.open}>
              {t('Pause…')}
            </Button>
          ) : (
            <Button variant="default" loading={resume.isPending} onClick={() => resume.mutate()}>
              {t('Resume')}
            </Button>
          )}
        </>
      )}
      {isOver && <Button onClick={rollingOut.open}>{t('Roll out…')}</Button>}
      <Button
        variant="default"
        loading={clone.isPending}
        onClick={() =>
          clone.mutate(undefined, {
            onSuccess: ({ data }) => goTo(`/experiments/${data.id}`),
          })
        }
      >
        {t('Clone')}
      </Button>
      {status !== 'running' && <Remove experiment={experiment} />}
      <Failed error={start.error ?? clone.error ?? resume.error} />
      <PauseDialog id={id} isOpen={isPausing} close={pausing.close} />
      <ChangeDialog experiment={experiment} isOpen={isChanging} close={changing.close} />
      <StopDialog id={id} variants={variants} isOpen={isStopping} close={stopping.close} />
      <RollOutDialog
        id={id}
        variants={variants}
        winner={winner}
        isOpen={isRollingOut}
        close={rollingOut.close}
      />
    </Group>
  );
}

function Remove({ experiment: { id, name, status } }: { experiment: Experiment }): ReactNode {
  const remove = useChange(() => api.delete('/v1/experiments/{id}', { path: { id } }), {
    reads: 'none',
  });
  const question = {
    title: t('Delete “{name}”?', { name }),
    text:
      status === 'draft'
        ? t('The draft is deleted.')
        : t('Its results, decisions and links are deleted too. This cannot be undone.'),
    action: t('Delete the experiment'),
    ...(status !== 'draft' && { typed: 'delete' }),
  };
  const go = () => remove.mutate(undefined, { onSuccess: () => goTo('/experiments') });
  return (
    <>
      <Button variant="default" loading={remove.isPending} onClick={() => askThen(question, go)}>
        {t('Delete')}
      </Button>
      <Failed error={remove.error} />
    </>
  );
}

type DialogParts = {
  id: string;
  variants: Experiment['variants'];
  isOpen: boolean;
  close: () => void;
};

function StopDialog({ id, variants, isOpen, close }: DialogParts): ReactNode {
  const [winner, setWinner] = useState<string | null>(null);
  const [reason, setReason] = useState('');
  const stop = useChange(() =>
    api.post('/v1/experiments/{id}/stop', {
      path: { id },
      body: { ...(winner !== null && { winner }), ...(reason !== '' && { reason }) },
    }),
  );
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={t('Stop the experiment')}
      closeButtonProps={{ 'aria-label': t('Close') }}
    >
      <Stack>
        <Text size="sm">{t('Viewers get the base values again, and the results are frozen.')}</Text>
        <Select
          label={t('Winner')}
          placeholder={t('none')}
          clearable
          data={variants.map((variant) => ({ value: variant.id, label: variant.name }))}
          value={winner}
          onChange={setWinner}
        />
        <TextInput
          data-autofocus
          label={t('Reason')}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <Failed error={stop.error} />
        <Button
          loading={stop.isPending}
          onClick={() => stop.mutate(undefined, { onSuccess: close })}
        >
          {t('Stop the experiment')}
        </Button>
      </Stack>
    </Modal>
  );
}

function RollOutDialog({
  id,
  variants,
  winner,
  isOpen,
  close,
}: DialogParts & { winner: string | null }): ReactNode {
  const [chosen, setChosen] = useState<string | null>(winner);
  const rollOut = useChange((to: string) =>
    api.post('/v1/experiments/{id}/rollout', { path: { id }, body: { winner: to } }),
  );
  const config = variants.find((variant) => variant.id === chosen)?.config;
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={t('Roll out a variant')}
      closeButtonProps={{ 'aria-label': t('Close') }}
    >
      <Stack>
        <Text size="sm">
          {t('Every viewer gets the configuration of this variant from now on.')}
        </Text>
        <Select
          data-autofocus
          label={t('Variant')}
          data={variants.map((variant) => ({ value: variant.id, label: variant.name }))}
          value={chosen}
          onChange={setChosen}
        />
        {config !== undefined && <Configuration config={config} />}
        <Failed error={rollOut.error} />
        <Button
          disabled={chosen === null}
          loading={rollOut.isPending}
          onClick={() => chosen !== null && rollOut.mutate(chosen, { onSuccess: close })}
        >
          {t('Roll out')}
        </Button>
      </Stack>
    </Modal>
  );
}
