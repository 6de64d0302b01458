/** The fields of a new bulk job: which items, and the operation. */
import { Group, Select, SimpleGrid, Stack, TagsInput, TextInput, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { api } from '../../api.ts';
import { t } from '../../texts/texts.ts';
import { contentTypes } from './content-types.ts';

export type Body = Parameters<typeof api.post<'/v1/content/bulk/jobs'>>[1]['body'];
export type Operation = Body['operation'];

export const operations: Record<Operation, string> = {
  tag: 'Tag',
  visibility: 'Set the visibility',
  update: 'Update',
  publish: 'Publish',
  unpublish: 'Unpublish',
  delete: 'Delete permanently',
};

export type Draft = {
  operation: Operation;
  addTags: string[];
  removeTags: string[];
  visibility: 'public' | 'unlisted' | 'private';
  section: string;
  author: string;
};

export function Filter({
  values,
  change,
}: {
  values: Readonly<Record<string, string>>;
  change: (changes: Readonly<Record<string, string | null>>) => void;
}): ReactNode {
  const choices = {
    contentType: contentTypes,
    visibility: ['public', 'unlisted', 'private'],
    publishStatus: ['published', 'unpublished'],
    uploadStatus: ['pending', 'processing', 'ready', 'error'],
    archived: ['false', 'true', 'only'],
  };
  const labels: Record<string, string> = {
    tags: 'All of these tags',
    search: 'Search',
    contentType: 'Type',
    visibility: 'Visibility',
    publishStatus: 'Published',
    uploadStatus: 'Upload',
    archived: 'Archived (deletions)',
    createdAfter: 'Created after',
    createdBefore: 'Created before',
  };
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {t('Which items')}
      </Title>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }}>
        {['search', 'tags', 'section', 'author', 'createdAfter', 'createdBefore'].map((name) => (
          <TextInput
            key={name}
            label={labels[name] ?? t('With the {name}', { name })}
            placeholder={t('any')}
            value={values[name] ?? ''}
            onChange={(event) => change({ [name]: event.currentTarget.value })}
          />
        ))}
        {Object.entries(choices).map(([name, data]) => (
          <Select
            key={name}
            label={labels[name]}
            placeholder={t('any')}
            clearable
            data={data}
            value={values[name] ?? null}
            onChange={(value) => change({ [name]: value })}
          />
        ))}
      </SimpleGrid>
    </Stack>
  );
}

export function OperationFields({
  draft,
  edit,
}: {
  draft: Draft;
  edit: (changes: Partial<Draft>) => void;
}): ReactNode {
  const { operation } = draft;
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {t('What to do with them')}
      </Title>
      <Group align="end">
        <Select
          label={t('Operation')}
          allowDeselect={false}
          data={Object.entries(operations).map(([value, label]) => ({ value, label }))}
          value={operation}
          onChange={(value) => edit({ operation: (value ?? 'tag') as Operation })}
        />
        {operation === 'tag' && (
          <>
            <TagsInput
              label={t('Add tags')}
              miw={200}
              acceptValueOnBlur
              value={draft.addTags}
              onChange={(addTags) => edit({ addTags })}
            />
            <TagsInput
              label={t('Remove tags')}
              miw={200}
              acceptValueOnBlur
              value={draft.removeTags}
              onChange={(removeTags) => edit({ removeTags })}
            />
          </>
        )}
        {operation === 'visibility' && (
          <Select
            label={t('New visibility')}
            allowDeselect={false}
            data={['public', 'unlisted', 'private']}
            value={draft.visibility}
            onChange={(value) => edit({ visibility: value as Draft['visibility'] })}
          />
        )}
        {operation === 'update' &&
          (['section', 'author'] as const).map((name) => (
            <TextInput
              key={name}
              label={t('New {name}', { name })}
              placeholder={t('as it is')}
              value={draft[name]}
              onChange={(event) => edit({ [name]: event.currentTarget.value })}
            />
          ))}
      </Group>
    </Stack>
  );
}
