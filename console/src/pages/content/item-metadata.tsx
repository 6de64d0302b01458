/** An item's metadata, schedule and visibility. */
import {
  Select,
  SimpleGrid,
  Switch,
  TagsInput,
  Textarea,
  TextInput,
  Title,
  NumberInput,
} from '@mantine/core';
import type { ReactNode } from 'react';
import { api, readTagged } from '../../api.ts';
import type { Item } from '../../data.ts';
import { DraftForm, useDraft, type Draft } from '../../draft.tsx';
import type { Version } from '../../draft-saving.ts';
import { fromLocalTime, localTime } from '../../format.ts';
import { CustomMetadata, problemOfMetadata } from './item-custom.tsx';
import { known, t } from '../../texts/texts.ts';

const fields = [
  ...(['title', 'description', 'tags', 'section', 'author', 'visibility', 'protected'] as const),
  ...(['publishAt', 'expiresAt', 'articleUrl', 'externalId', 'autoScrollInterval'] as const),
  'customMetadata',
] as const;
export type Fields = Pick<Item, (typeof fields)[number]>;

const labels: Record<keyof Fields, string> = {
  title: t('Title'),
  description: t('Description'),
  tags: t('Tags'),
  section: t('Section'),
  author: t('Author'),
  visibility: t('Visibility'),
  protected: t('Protected'),
  publishAt: t('In the feed from'),
  expiresAt: t('In the feed until'),
  articleUrl: t('Article URL'),
  externalId: t('External id'),
  autoScrollInterval: t('Seconds between images'),
  customMetadata: t('Custom metadata'),
};

type Body = NonNullable<Parameters<typeof api.patch<'/v1/content/{id}'>>[1]['body']>;

const versionOf = (item: Item, tag: string | null): Version<Fields> => ({
  tag,
  values: Object.fromEntries(fields.map((name) => [name, item[name]])) as Fields,
});

export function Metadata({ item, tag }: { item: Item; tag: string | null }): ReactNode {
  const { id } = item;
  const draft = useDraft<Fields>({
    stored: versionOf(item, tag),
    read: async () => {
      const now = await readTagged<'/v1/content/{id}'>(`/v1/content/${id}`);
      return versionOf(now.data, now.tag);
    },
    write: (changes, version) =>
      api.patch('/v1/content/{id}', {
        path: { id },
        body: bodyOf(changes, item),
        ...(version !== null && { headers: { 'if-match': version } }),
      }),
  });
  return (
    <DraftForm
      draft={draft}
      labels={labels}
      isDisabled={problemOfMetadata(draft.values.customMetadata) !== null}
    >
      <Title order={2} size="h4">
        {t('Metadata and schedule')}
      </Title>
      <Texts draft={draft} />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Line draft={draft} name="section" />
        <Line draft={draft} name="author" />
        <Moment draft={draft} name="publishAt" />
        <Moment draft={draft} name="expiresAt" />
        <Line draft={draft} name="articleUrl" type="url" />
        <Select
          label={labels.visibility}
          data={['public', 'unlisted', 'private'].map((value) => ({ value, label: known(value) }))}
          allowDeselect={false}
          value={draft.values.visibility}
          onChange={(value) =>
            value !== null && draft.change({ visibility: value as Fields['visibility'] })
          }
        />
        <Line draft={draft} name="externalId" />
        {item.contentType === 'carousel' && (
          <NumberInput
            label={labels.autoScrollInterval}
            placeholder={t('by hand')}
            min={0.5}
            max={3_600}
            value={draft.values.autoScrollInterval ?? ''}
            onChange={(value) =>
              draft.change({ autoScrollInterval: value === '' ? null : Number(value) })
            }
          />
        )}
      </SimpleGrid>
      {item.contentType === 'video' && (
        <Switch
          label={t('Protected: plays only with a playback token')}
          checked={draft.values.protected}
          onChange={(event) => draft.change({ protected: event.currentTarget.checked })}
        />
      )}
      <CustomMetadata
        values={draft.values.customMetadata}
        isFresh={!draft.isDirty}
        change={(customMetadata) => draft.change({ customMetadata })}
      />
    </DraftForm>
  );
}

/** The API merges custom metadata, so removed keys are sent as null. */
function bodyOf({ customMetadata, tags, ...changes }: Partial<Fields>, item: Item): Body {
  const gone = Object.keys(item.customMetadata).filter((key) => !(key in (customMetadata ?? {})));
  return {
    ...changes,
    ...(tags !== undefined && { tags: [...tags] }),
    ...(customMetadata !== undefined && {
      customMetadata: { ...customMetadata, ...Object.fromEntries(gone.map((key) => [key, null])) },
    }),
  };
}

function Texts({ draft }: { draft: Draft<Fields> }): ReactNode {
  const { title, description, tags } = draft.values;
  return (
    <>
      <TextInput
        label={labels.title}
        required
        maxLength={200}
        value={title}
        onChange={(event) => draft.change({ title: event.currentTarget.value })}
      />
      <Textarea
        label={labels.description}
        autosize
        minRows={2}
        value={description ?? ''}
        onChange={(event) => draft.change({ description: event.currentTarget.value || null })}
      />
      <TagsInput
        label={labels.tags}
        acceptValueOnBlur
        value={[...tags]}
        onChange={(value) => draft.change({ tags: value })}
      />
    </>
  );
}

function Line({
  draft,
  name,
  type = 'text',
}: {
  draft: Draft<Fields>;
  name: 'section' | 'author' | 'articleUrl' | 'externalId';
  type?: string;
}): ReactNode {
  return (
    <TextInput
      type={type}
      label={labels[name]}
      value={draft.values[name] ?? ''}
      onChange={(event) => draft.change({ [name]: event.currentTarget.value || null })}
    />
  );
}

function Moment({
  draft,
  name,
}: {
  draft: Draft<Fields>;
  name: 'publishAt' | 'expiresAt';
}): ReactNode {
  return (
    <TextInput
      type="datetime-local"
      label={labels[name]}
      value={localTime(draft.values[name])}
      onChange={(event) => draft.change({ [name]: fromLocalTime(event.currentTarget.value) })}
    />
  );
}
