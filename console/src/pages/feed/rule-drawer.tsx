/** Edits one editorial rule. */
import { NumberInput, SimpleGrid, TagsInput, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { api } from '../../api.ts';
import { DraftForm, useDraft, type Draft } from '../../draft.tsx';
import { Side } from '../../drawer.tsx';
import { fromLocalTime, localTime } from '../../format.ts';
import { effectOf, type Rule } from './rules.ts';
import { t } from '../../texts/texts.ts';

type Fields = Pick<Rule, 'match' | 'factor' | 'position' | 'startsAt' | 'endsAt'>;

const labels = {
  match: 'What it matches',
  factor: 'Factor',
  position: 'Position',
  startsAt: 'From',
  endsAt: 'Until',
};

const fieldsOf = ({ match, factor, position, startsAt, endsAt }: Rule): Fields => ({
  match,
  factor,
  position,
  startsAt,
  endsAt,
});

export function RuleDrawer({ rule, close }: { rule: Rule; close: () => void }): ReactNode {
  const { id, type } = rule;
  const draft = useDraft<Fields>({
    stored: { values: fieldsOf(rule), tag: null },
    // The API can't return a single rule; the list is short.
    read: async () => {
      for await (const each of api.each('/v1/ranking/rules')) {
        if (each.id === id) return { values: fieldsOf(each), tag: null };
      }
      throw new Error('Someone else has removed this rule.');
    },
    write: async (changes) => {
      await api.patch('/v1/ranking/rules/{id}', { path: { id }, body: changes });
      close();
    },
  });
  const { match, factor, position } = draft.values;
  /** An empty condition is removed. */
  const setMatch = (name: keyof Fields['match'], value: string | string[]) => {
    const { [name]: _old, ...rest } = match;
    draft.change({ match: value.length === 0 ? rest : { ...rest, [name]: value } });
  };
  return (
    <Side
      title={t('Change: {rule}', { rule: effectOf(rule) })}
      close={close}
      isDirty={draft.isDirty}
    >
      <DraftForm draft={draft} labels={labels} label={t('Save the rule')}>
        {(type === 'boost' || type === 'suppress') && (
          <NumberInput
            label={t('Factor')}
            min={0.01}
            max={1_000}
            step={0.1}
            value={factor ?? 1}
            onChange={(value) => draft.change({ factor: Number(value) })}
          />
        )}
        {type === 'pin' && (
          <NumberInput
            label={t('Position')}
            min={1}
            max={1_000}
            value={(position ?? 0) + 1}
            onChange={(value) => draft.change({ position: Math.max(0, Number(value) - 1) })}
          />
        )}
        {(['contentId', 'author', 'section'] as const).map((name) => (
          <TextInput
            key={name}
            label={{ contentId: 'Item id', author: 'Author', section: 'Section' }[name]}
            placeholder={t('any')}
            value={match[name] ?? ''}
            onChange={(event) => setMatch(name, event.currentTarget.value)}
          />
        ))}
        <TagsInput
          label={t('Any of these tags')}
          acceptValueOnBlur
          value={[...(match.tags ?? [])]}
          onChange={(value) => setMatch('tags', value)}
        />
        <Moments draft={draft} />
      </DraftForm>
    </Side>
  );
}

function Moments({ draft }: { draft: Draft<Fields> }): ReactNode {
  const { startsAt, endsAt } = draft.values;
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <TextInput
        type="datetime-local"
        label={t('From')}
        value={localTime(startsAt)}
        onChange={(event) => draft.change({ startsAt: fromLocalTime(event.currentTarget.value) })}
      />
      <TextInput
        type="datetime-local"
        label={t('Until')}
        value={localTime(endsAt)}
        onChange={(event) => draft.change({ endsAt: fromLocalTime(event.currentTarget.value) })}
      />
    </SimpleGrid>
  );
}
