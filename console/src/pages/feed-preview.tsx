/** A phone that shows the feed of any viewer, and why each item stands where it does. */
import {
  Anchor,
  Badge,
  Box,
  Group,
  List,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { useRead, type Schemas } from '../data.ts';
import { useParameters } from '../location.ts';
import { words } from '../format.ts';
import { Empty, Show } from '../states.tsx';

type FeedItem = Schemas['FeedItem'];

export function FeedPreview(): ReactNode {
  const [values, change] = useParameters();
  const [{ viewer = '', country = '', device = '' }] = useDebouncedValue(values, 300);
  const feed = useRead('/v1/feed', {
    query: {
      limit: 20,
      explain: true,
      ...(viewer === '' ? { deviceId: 'console-preview' } : { userId: viewer }),
      ...(country.length === 2 && { country: country.toUpperCase() }),
      ...(device !== '' && { device: device as 'ios' }),
    },
  });
  return (
    <Stack>
      <Group align="end">
        <TextInput
          label="Viewer"
          placeholder="a user id; empty: someone new"
          miw={240}
          value={values['viewer'] ?? ''}
          onChange={(event) => change({ viewer: event.currentTarget.value })}
        />
        <TextInput
          label="Country"
          placeholder="DE"
          maxLength={2}
          w={90}
          value={values['country'] ?? ''}
          onChange={(event) => change({ country: event.currentTarget.value })}
        />
        <Select
          label="Device"
          placeholder="any"
          clearable
          w={130}
          data={['ios', 'android', 'web']}
          value={values['device'] ?? null}
          onChange={(value) => change({ device: value })}
        />
      </Group>
      <Show of={feed}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>
              This viewer&apos;s feed is empty. <Anchor href="#/content">Upload a video</Anchor> and
              publish it.
            </Empty>
          ) : (
            <Phone items={data} />
          )
        }
      </Show>
    </Stack>
  );
}

function Phone({ items }: { items: readonly FeedItem[] }): ReactNode {
  const [chosen, setChosen] = useState(0);
  const item = items[Math.min(chosen, items.length - 1)];
  return (
    <Group align="flex-start" gap="xl">
      <Box
        role="listbox"
        aria-label="Feed on a phone"
        tabIndex={0}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step === undefined) return;
          event.preventDefault();
          setChosen(Math.max(0, Math.min(items.length - 1, chosen + step)));
        }}
        style={{
          width: 270,
          height: 540,
          overflowY: 'auto',
          scrollSnapType: 'y mandatory',
          border: '10px solid var(--mantine-color-gray-7)',
          borderRadius: 32,
          background: 'black',
        }}
      >
        {items.map((each, index) => (
          <Screen
            key={`${each.id} ${index}`}
            item={each}
            position={index}
            isChosen={index === chosen}
            onChoose={() => setChosen(index)}
          />
        ))}
      </Box>
      {item !== undefined && <Explanation item={item} position={chosen} />}
    </Group>
  );
}

function Screen({
  item,
  position,
  isChosen,
  onChoose,
}: {
  item: FeedItem;
  position: number;
  isChosen: boolean;
  onChoose: () => void;
}): ReactNode {
  const picture = item.thumbnailUrl ?? item.images[0]?.imageUrl ?? null;
  return (
    <div
      role="option"
      aria-selected={isChosen}
      tabIndex={-1}
      ref={(element) => {
        if (isChosen) element?.scrollIntoView({ block: 'nearest' });
      }}
      onClick={onChoose}
      onKeyDown={(event) => event.key === 'Enter' && onChoose()}
      style={{
        position: 'relative',
        height: 400,
        scrollSnapAlign: 'start',
        cursor: 'pointer',
        background:
          picture === null ? '#222' : `#222 center / cover url(${JSON.stringify(picture)})`,
        outline: isChosen ? '3px solid var(--mantine-color-indigo-4)' : 'none',
        outlineOffset: -3,
      }}
    >
      <Box
        p="sm"
        style={{ position: 'absolute', inset: 'auto 0 0', background: '#000c', color: '#fff' }}
      >
        <Text fw={600}>{`${position + 1}. ${item.title}`}</Text>
        <Text size="sm">{[item.author, ...item.tags.map((tag) => `#${tag}`)].join(' ')}</Text>
      </Box>
    </div>
  );
}

function Explanation({ item, position }: { item: FeedItem; position: number }): ReactNode {
  const { ranking } = item;
  return (
    <Stack gap="xs" miw={280} flex={1} aria-live="polite">
      <Text fw={700}>
        {`Position ${position + 1}: `}
        <Anchor href={`#/content/${item.id}`} underline="always" inherit>
          {item.title}
        </Anchor>
      </Text>
      {ranking === undefined ? (
        <Text>The feed was not ranked: newest first.</Text>
      ) : (
        <>
          <Group gap="xs">
            <Badge variant="outline" color="gray" tt="none">
              {`score ${ranking.score.toFixed(3)}`}
            </Badge>
          </Group>
          <List size="sm">
            {ranking.reasons.map((reason) => (
              <List.Item key={reason}>{words(reason)}</List.Item>
            ))}
          </List>
          <Signals signals={ranking.signals} weights={ranking.weights} />
        </>
      )}
    </Stack>
  );
}

/** What each signal adds to the score. */
function Signals({
  signals,
  weights,
}: {
  signals: Readonly<Record<string, number>>;
  weights: Readonly<Record<string, number>>;
}): ReactNode {
  return (
    <Table.ScrollContainer minWidth={280}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Signal</Table.Th>
            <Table.Th>Value</Table.Th>
            <Table.Th>Weight</Table.Th>
            <Table.Th>Adds</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {Object.entries(signals).map(([name, value]) => {
            const weight = weights[name] ?? 0;
            return (
              <Table.Tr key={name}>
                <Table.Td>{words(name)}</Table.Td>
                <Table.Td>{value.toFixed(3)}</Table.Td>
                <Table.Td>{weight.toFixed(2)}</Table.Td>
                <Table.Td>
                  <Box
                    h={10}
                    w={`${Math.min(100, 100 * value * weight)}%`}
                    bg="var(--mantine-primary-color-filled)"
                    role="img"
                    aria-label={(value * weight).toFixed(3)}
                  />
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
