/** What can be done with an experiment: start, change, pause, stop, roll out, copy, delete. */
import { Button, Code, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { api } from '../api.ts';
import { useChange } from '../data.ts';
import { goTo } from '../location.ts';
import { Failed } from '../states.tsx';
import { ChangeDialog, PauseDialog } from './experiment-changes.tsx';
import type { Experiment } from './experiment.tsx';

export function Actions({ experiment }: { experiment: Experiment }): ReactNode {
  const { id, status, variants, winner, pausedAt } = experiment;
  const path = { id };
  const start = useChange(() => api.post('/v1/experiments/{id}/start', { path }));
  const remove = useChange(() => api.delete('/v1/experiments/{id}', { path }));
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
        <Button loading={start.isPending} onClick={() => start.mutate()}>
          Start
        </Button>
      )}
      {status === 'running' && (
        <>
          <Button onClick={stopping.open}>Stop…</Button>
          <Button variant="default" onClick={changing.open}>
            More viewers, later end…
          </Button>
          {pausedAt === null ? (
            <Button variant="default" onClick={pausing.open}>
              Pause…
            </Button>
          ) : (
            <Button variant="default" loading={resume.isPending} onClick={() => resume.mutate()}>
              Resume
            </Button>
          )}
        </>
      )}
      {isOver && <Button onClick={rollingOut.open}>Roll out…</Button>}
      <Button
        variant="default"
        loading={clone.isPending}
        onClick={() =>
          clone.mutate(undefined, {
            onSuccess: ({ data }) => goTo(`/experiments/${data.id}`),
          })
        }
      >
        Clone
      </Button>
      {status !== 'running' && (
        <Button
          variant="default"
          onClick={() => remove.mutate(undefined, { onSuccess: () => goTo('/experiments') })}
        >
          Delete
        </Button>
      )}
      <Failed error={start.error ?? remove.error ?? clone.error ?? resume.error} />
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
      title="Stop the experiment"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Text size="sm">
          Viewers go back to what everybody gets. Nothing can be added to the results after that.
        </Text>
        <Select
          label="Winner"
          placeholder="none"
          clearable
          data={variants.map((variant) => ({ value: variant.id, label: variant.name }))}
          value={winner}
          onChange={setWinner}
        />
        <TextInput
          label="Reason"
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <Failed error={stop.error} />
        <Button
          loading={stop.isPending}
          onClick={() => stop.mutate(undefined, { onSuccess: close })}
        >
          Stop the experiment
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
      title="Roll out a variant"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Text size="sm">Every viewer gets the configuration of this variant from now on.</Text>
        <Select
          label="Variant"
          data={variants.map((variant) => ({ value: variant.id, label: variant.name }))}
          value={chosen}
          onChange={setChosen}
        />
        {config !== undefined && <Code block>{JSON.stringify(config, null, 2)}</Code>}
        <Failed error={rollOut.error} />
        <Button
          disabled={chosen === null}
          loading={rollOut.isPending}
          onClick={() => chosen !== null && rollOut.mutate(chosen, { onSuccess: close })}
        >
          Roll out
        </Button>
      </Stack>
    </Modal>
  );
}
