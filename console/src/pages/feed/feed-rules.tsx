/** Editorial rules: boosts, suppressions, pins and exclusions. */
import {
  Anchor,
  Button,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Table,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useList } from '../../data.ts';
import { Opener } from '../../drawer.tsx';
import { fromLocalTime, moment } from '../../format.ts';
import { formText } from '../../form-text.ts';
import { CopyCurl } from '../../page.tsx';
import { askThen } from '../../questions.tsx';
import { Empty, Failed, More, Show } from '../../states.tsx';
import { RuleDrawer } from './rule-drawer.tsx';
import { effectOf, type Rule } from './rules.ts';
import { t } from '../../texts/texts.ts';

type NewRule = Parameters<typeof api.post<'/v1/ranking/rules'>>[1]['body'];

const types = {
  boost: t('Boost: rank higher'),
  suppress: t('Suppress: rank lower'),
  pin: t('Pin to a position'),
  exclude: t('Exclude from feeds'),
};

export function FeedRules(): ReactNode {
  const rules = useList('/v1/ranking/rules', {});
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="sm">{t('Rules change the order that results from the weights.')}</Text>
        <Opener label={t('New rule')}>{(close) => <NewRuleForm done={close} />}</Opener>
      </Group>
      <Show of={rules}>
        {(data) =>
          data.length === 0 ? (
            <Empty>
              {t('No rules yet: only the weights order the feed. “New rule” creates one.')}
            </Empty>
          ) : (
            <Rules rules={data} />
          )
        }
      </Show>
      <More of={rules} />
      <Group>
        <CopyCurl path="/v1/ranking/rules" />
      </Group>
    </Stack>
  );
}

function NewRuleForm({ done }: { done: () => void }): ReactNode {
  const [type, setType] = useState<Rule['type']>('boost');
  const [tags, setTags] = useState<string[]>([]);
  const create = useChange((body: NewRule) => api.post('/v1/ranking/rules', { body }));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = (name: string) => formText(event.currentTarget, name);
    const match = Object.fromEntries(
      ['contentId', 'author', 'section'].map((name) => [name, text(name)]).filter(([, to]) => to),
    );
    const rule: NewRule = {
      type,
      match: { ...match, ...(tags.length > 0 && { tags }) },
      ...((type === 'boost' || type === 'suppress') && { factor: Number(text('factor')) }),
      ...(type === 'pin' && { position: Number(text('position')) - 1 }),
      startsAt: fromLocalTime(text('startsAt')),
      endsAt: fromLocalTime(text('endsAt')),
    };
    create.mutate(rule, { onSuccess: done });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Select
          label={t('Rule')}
          data={Object.entries(types).map(([value, label]) => ({ value, label }))}
          allowDeselect={false}
          value={type}
          onChange={(value) => setType((value ?? 'boost') as Rule['type'])}
        />
        {(type === 'boost' || type === 'suppress') && (
          <NumberInput
            key={type}
            name="factor"
            label={t('Factor')}
            min={0.01}
            max={1_000}
            step={0.1}
            defaultValue={type === 'boost' ? 2 : 0.5}
          />
        )}
        {type === 'pin' && (
          <NumberInput name="position" label={t('Position')} min={1} max={1_000} defaultValue={1} />
        )}
        <TextInput name="contentId" label={t('Item id')} placeholder={t('any')} />
        <TagsInput label={t('Any of these tags')} value={tags} onChange={setTags} />
        <TextInput name="author" label={t('Author')} placeholder={t('any')} />
        <TextInput name="section" label={t('Section')} placeholder={t('any')} />
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <TextInput name="startsAt" type="datetime-local" label={t('From')} />
          <TextInput name="endsAt" type="datetime-local" label={t('Until')} />
        </SimpleGrid>
        <Failed error={create.error} />
        <Group>
          <Button type="submit" loading={create.isPending}>
            {t('Create rule')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const removing = (rule: Rule) => ({
  title: t('Remove “{rule}”?', { rule: effectOf(rule) }),
  text: t('Feeds are immediately ordered without it.'),
  action: t('Remove the rule'),
});

function Rules({ rules }: { rules: readonly Rule[] }): ReactNode {
  const remove = useChange((id: string) => api.delete('/v1/ranking/rules/{id}', { path: { id } }));
  const [edited, setEdited] = useState<Rule | null>(null);
  return (
    <Table.ScrollContainer minWidth={560}>
      <Failed error={remove.error} />
      {edited !== null && (
        <RuleDrawer key={edited.id} rule={edited} close={() => setEdited(null)} />
      )}
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Rule')}</Table.Th>
            <Table.Th>{t('What it matches')}</Table.Th>
            <Table.Th>{t('When')}</Table.Th>
            <Table.Th>{t('Action')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rules.map((rule) => (
            <Table.Tr key={rule.id}>
              <Table.Td>{effectOf(rule)}</Table.Td>
              <Table.Td>
                <Match match={rule.match} />
              </Table.Td>
              <Table.Td>
                {t('{value} to {value2}', {
                  value: rule.startsAt === null ? 'at once' : moment(rule.startsAt),
                  value2: rule.endsAt === null ? 'further notice' : moment(rule.endsAt),
                })}
              </Table.Td>
              <Table.Td>
                <Group gap="xs">
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={t('Change: {rule}', { rule: effectOf(rule) })}
                    onClick={() => setEdited(rule)}
                  >
                    {t('Change')}
                  </Button>
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={t('Remove: {rule}', { rule: effectOf(rule) })}
                    onClick={() => askThen(removing(rule), () => remove.mutate(rule.id))}
                  >
                    {t('Remove')}
                  </Button>
                </Group>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Match({ match }: { match: Rule['match'] }): ReactNode {
  const { contentId, tags, author, section } = match;
  const parts = [
    tags !== undefined && `tagged ${tags.join(' or ')}`,
    author !== undefined && `by ${author}`,
    section !== undefined && `in ${section}`,
  ].filter(Boolean);
  return (
    <Text size="sm" component="span">
      {contentId !== undefined && (
        <Anchor href={`#/content/${contentId}`} underline="always" inherit>
          {t('one item')}
        </Anchor>
      )}
      {` ${parts.join(', ')}`}
    </Text>
  );
}
