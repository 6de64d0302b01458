/** The fields of a bulk operation. */
import { Select, TagsInput, Text, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Item } from '../../data.ts';
import type { Draft, Operation } from './bulk-operations.ts';
import { t } from '../../texts/texts.ts';

export function BulkFields({
  operation,
  draft,
  setDraft,
}: {
  operation: Operation;
  draft: Draft;
  setDraft: (draft: Draft) => void;
}): ReactNode {
  const change = (changes: Partial<Draft>) => setDraft({ ...draft, ...changes });
  if (operation === 'tag') {
    return (
      <>
        <TagsInput
          label={t('Add tags')}
          data-autofocus
          acceptValueOnBlur
          value={draft.addTags}
          onChange={(addTags) => change({ addTags })}
        />
        <TagsInput
          label={t('Remove tags')}
          acceptValueOnBlur
          value={draft.removeTags}
          onChange={(removeTags) => change({ removeTags })}
        />
      </>
    );
  }
  if (operation === 'visibility') {
    return (
      <Select
        label={t('Visibility')}
        data={['public', 'unlisted', 'private']}
        allowDeselect={false}
        value={draft.visibility}
        onChange={(value) => change({ visibility: value as Item['visibility'] })}
      />
    );
  }
  if (operation === 'archive') {
    return (
      <Text size="sm">
        {t(
          'They leave the feed at once. Archived items can be restored until their files are cleaned up.',
        )}
      </Text>
    );
  }
  if (operation === 'restore') {
    return (
      <Text size="sm">
        {t('They are restored unpublished, so that you can review them first.')}
      </Text>
    );
  }
  if (operation === 'delete') return null;
  return <UpdateFields draft={draft} change={change} />;
}

function UpdateFields({
  draft,
  change,
}: {
  draft: Draft;
  change: (changes: Partial<Draft>) => void;
}): ReactNode {
  return (
    <>
      <TextInput
        label={t('Section (empty: unchanged)')}
        value={draft.section}
        onChange={(event) => change({ section: event.currentTarget.value })}
      />
      <TextInput
        label={t('Author (empty: unchanged)')}
        value={draft.author}
        onChange={(event) => change({ author: event.currentTarget.value })}
      />
      <Select
        label={t('Published')}
        placeholder={t('as it is')}
        clearable
        data={['published', 'unpublished']}
        value={draft.publishStatus}
        onChange={(value) => change({ publishStatus: value })}
      />
    </>
  );
}
