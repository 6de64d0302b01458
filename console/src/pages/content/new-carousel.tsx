/** Creates a carousel, whose images or videos are added on its page. */
import { Button, Radio, Stack, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange } from '../../data.ts';
import { FormDrawer } from '../../drawer.tsx';
import { formText } from '../../form-text.ts';
import { goTo } from '../../location.ts';
import { t } from '../../texts/texts.ts';

type Body = Parameters<typeof api.post<'/v1/content'>>[1]['body'];

export function NewCarousel(): ReactNode {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button variant="default" size="compact-sm" onClick={open}>
        {t('New carousel')}
      </Button>
      {isOpen && <Form close={close} />}
    </>
  );
}

function Form({ close }: { close: () => void }): ReactNode {
  const [contentType, setType] = useState<Body['contentType']>('carousel');
  const [tags, setTags] = useState<string[]>([]);
  const create = useChange((body: Body) => api.post('/v1/content', { body }), { reads: 'none' });
  const submit = (form: HTMLFormElement) =>
    create.mutate(
      {
        contentType,
        tags,
        title: formText(form, 'title'),
        description: formText(form, 'description') || null,
      },
      {
        onSuccess: ({ data }) => {
          close();
          // By then the drawer and its content are gone.
          setTimeout(() => goTo(`/content/${data.id}`));
        },
      },
    );
  return (
    <FormDrawer
      title={t('New carousel')}
      label={t('Create carousel')}
      close={close}
      onSubmit={submit}
      isPending={create.isPending}
      error={create.error}
    >
      <Radio.Group label={t('It holds')} value={contentType} onChange={(value) => setType(value)}>
        <Stack gap="xs" mt={4}>
          <Radio value="carousel" label={t('Images, which viewers swipe through')} />
          <Radio value="video_carousel" label={t('Videos of the library, as a row')} />
        </Stack>
      </Radio.Group>
      <TextInput name="title" label={t('Title')} required maxLength={200} data-autofocus />
      <Textarea name="description" label={t('Description')} autosize minRows={2} />
      <TagsInput label={t('Tags')} acceptValueOnBlur value={tags} onChange={setTags} />
    </FormDrawer>
  );
}
