/** Editorial rules: boosts, suppressions, pins and exclusions. */
import {
  Anchor,
  Button,
  Group,
  NumberInput,
  Select,
  Stack,
  Table,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../api.ts';
import { useChange, useList, type ItemOf } from '../data.ts';
import { fromLocalTime, moment } from '../format.ts';
import { formText } from '../form-text.ts';
import { CopyCurl } from '../page.tsx';
import { Empty, Failed, More, Show } from '../states.tsx';

type Rule = ItemOf<'/v1/ranking/rules'>;
type NewRule = Parameters<typeof api.post<'/v1/ranking/rules'>>[1]['body'];

const types = {
  boost: 'Boost: rank higher',
  suppress: 'Suppress: rank lower',
  pin: 'Pin to a position',
  exclude: 'Exclude from feeds',
};

export function FeedRules(): ReactNode {
  const rules = useList('/v1/ranking/rules', {});
  return (
    <Stack>
      <NewRuleForm />
      <Show of={rules}>
        {(data) =>
          data.length === 0 ? (
            <Empty>No rule yet: the weights alone order the feed. The form above makes one.</Empty>
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

function NewRuleForm(): ReactNode {
  const [type, setType] = useState<Rule['type']>('boost');
  const [tags, setTags] = useState<string[]>([]);
  const create = useChange((body: NewRule) => api.post('/v1/ranking/rules', { body }));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = (name: string) => formText(event.currentTarget, name);
    const match = Object.fromEntries(
      ['contentId', 'author', 'section'].map((name) => [name, text(name)]).filter(([, to]) => to),
    );
    create.mutate({
      type,
      match: { ...match, ...(tags.length > 0 && { tags }) },
      ...((type === 'boost' || type === 'suppress') && { factor: Number(text('factor')) }),
      ...(type === 'pin' && { position: Number(text('position')) - 1 }),
      startsAt: fromLocalTime(text('startsAt')),
      endsAt: fromLocalTime(text('endsAt')),
    });
  };
  return (
    <form onSubmit={submit}>
      <Group align="end">
        <Select
          label="Rule"
          data={Object.entries(types).map(([value, label]) => ({ value, label }))}
          allowDeselect={false}
          value={type}
          onChange={(value) => setType((value ?? 'boost') as Rule['type'])}
        />
        {(type === 'boost' || type === 'suppress') && (
          <NumberInput
            key={type}
            name="factor"
            label="Factor"
            w={90}
            min={0.01}
            max={1_000}
            step={0.1}
            defaultValue={type === 'boost' ? 2 : 0.5}
          />
        )}
        {type === 'pin' && (
          <NumberInput
            name="position"
            label="Position"
            w={90}
            min={1}
            max={1_000}
            defaultValue={1}
          />
        )}
        <TextInput name="contentId" label="Item id" placeholder="any" />
        <TagsInput label="Any of these tags" value={tags} onChange={setTags} miw={180} />
        <TextInput name="author" label="Author" placeholder="any" w={130} />
        <TextInput name="section" label="Section" placeholder="any" w={130} />
        <TextInput name="startsAt" type="datetime-local" label="From" />
        <TextInput name="endsAt" type="datetime-local" label="Until" />
        <Button type="submit" loading={create.isPending}>
          Create rule
        </Button>
      </Group>
      <Failed error={create.error} />
    </form>
  );
}

function Rules({ rules }: { rules: readonly Rule[] }): ReactNode {
  const remove = useChange((id: string) => api.delete('/v1/ranking/rules/{id}', { path: { id } }));
  return (
    <Table.ScrollContainer minWidth={560}>
      <Failed error={remove.error} />
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Rule</Table.Th>
            <Table.Th>What it matches</Table.Th>
            <Table.Th>When</Table.Th>
            <Table.Th>Action</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rules.map((rule) => (
            <Table.Tr key={rule.id}>
              <Table.Td>{effectOf(rule)}</Table.Td>
              <Table.Td>
                <Match match={rule.match} />
              </Table.Td>
              <Table.Td>{`${rule.startsAt === null ? 'at once' : moment(rule.startsAt)} to ${rule.endsAt === null ? 'further notice' : moment(rule.endsAt)}`}</Table.Td>
              <Table.Td>
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={`Remove: ${effectOf(rule)}`}
                  onClick={() => remove.mutate(rule.id)}
                >
                  Remove
                </Button>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function effectOf({ type, factor, position }: Rule): string {
  if (type === 'pin') return `pin to position ${(position ?? 0) + 1}`;
  return type === 'exclude' ? 'exclude' : `${type} by ${factor}`;
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
          one item
        </Anchor>
      )}
      {` ${parts.join(', ')}`}
    </Text>
  );
}
