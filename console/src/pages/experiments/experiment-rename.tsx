/** Renames a variant; its id stays the same. */
import { Button, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange } from '../../data.ts';
import { FormDrawer } from '../../drawer.tsx';
import { formText } from '../../form-text.ts';
import { t } from '../../texts/texts.ts';

type Parts = { experimentId: string; variant: { id: string; name: string } };

export function RenameVariant({ experimentId, variant: { id, name } }: Parts): ReactNode {
  const [isOpen, { open, close }] = useDisclosure();
  const rename = useChange((next: string) =>
    api.patch('/v1/experiments/{id}/variants/{variantId}', {
      path: { id: experimentId, variantId: id },
      body: { name: next },
    }),
  );
  return (
    <>
      <Button
        size="compact-xs"
        mih={24}
        variant="subtle"
        aria-label={t('Rename {name}', { name })}
        onClick={open}
      >
        {t('Rename')}
      </Button>
      {isOpen && (
        <FormDrawer
          title={t('Rename “{name}”', { name })}
          label={t('Rename')}
          close={close}
          isPending={rename.isPending}
          error={rename.error}
          onSubmit={(form) => rename.mutate(formText(form, 'name'), { onSuccess: close })}
        >
          <TextInput
            name="name"
            label={t('Name')}
            required
            maxLength={200}
            data-autofocus
            defaultValue={name}
          />
        </FormDrawer>
      )}
    </>
  );
}
