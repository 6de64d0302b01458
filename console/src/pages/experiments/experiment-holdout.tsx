/** The share of viewers who are in no experiment. */
import { Button, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useRead } from '../../data.ts';
import { percent } from '../../format.ts';
import { Failed } from '../../states.tsx';
import { NumberField } from '../../number-field.tsx';
import { t } from '../../texts/texts.ts';

export function Holdout(): ReactNode {
  const [isOpen, { open, close }] = useDisclosure();
  const holdout = useRead('/v1/experiments/holdout', {});
  const traffic = holdout.data?.data.traffic;
  return (
    <>
      <Button variant="default" disabled={traffic === undefined} onClick={open}>
        {traffic === undefined || traffic === 0
          ? t('Holdout…')
          : t('Holdout: {traffic}…', { traffic: percent(traffic) })}
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={t('Holdout')}
        closeButtonProps={{ 'aria-label': t('Close') }}
      >
        {traffic !== undefined && <Form traffic={traffic} close={close} />}
      </Modal>
    </>
  );
}

function Form({ traffic, close }: { traffic: number; close: () => void }): ReactNode {
  const [share, setShare] = useState(Math.round(traffic * 1_000) / 10);
  const save = useChange(() =>
    api.put('/v1/experiments/holdout', { body: { traffic: share / 100 } }),
  );
  return (
    <Stack>
      <Text size="sm">
        {t(
          'These viewers see no experiment, so after a while you can compare them with all others. A change applies to experiments that start later; running ones keep their participants.',
        )}
      </Text>
      <NumberField
        label={t('Share of viewers')}
        data-autofocus
        suffix=" %"
        min={0}
        max={50}
        value={share}
        onChange={setShare}
      />
      <Failed error={save.error} />
      <Button loading={save.isPending} onClick={() => save.mutate(undefined, { onSuccess: close })}>
        {t('Save the holdout')}
      </Button>
    </Stack>
  );
}
